#include "app/report/html_blocks.h"

#include <fmt/format.h>

#include <type_traits>

#include "app/report/escape.h"

namespace slipstream {
namespace {

// page.css shows the one or the other: a wide drawing made small would have letters too small to read.
constexpr double kWide = 860, kNarrow = 340, kHalf = 410;

std::string svg(const Picture& picture, double width, const char* size) {
  const Drawing drawing = picture.draw(width);
  return fmt::format(
      "<svg class=\"{}\" role=\"img\" aria-label=\"{}. {}\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" "
      "height=\"{:.0f}\">\n{}</svg>\n",
      size, html_text(picture.title), html_text(picture.description), drawing.width(), drawing.height(),
      drawing.width(), drawing.height(), drawing.body());
}

std::string legend(const Picture& picture) {
  if (picture.legend.empty()) return {};
  std::string items;
  for (const LegendEntry& entry : picture.legend) {
    items += fmt::format(
        "<li><svg aria-hidden=\"true\" width=\"18\" height=\"12\"><rect class=\"part {}\" "
        "y=\"1\" width=\"18\" height=\"10\" rx=\"2\"/></svg>{}</li>\n",
        entry.style, html_text(entry.name));
  }
  return "<ul class=\"legend\">\n" + items + "</ul>\n";
}

std::string head_cell(const Column& column) {
  return fmt::format("<th scope=\"col\"{}>{}</th>", column.is_number ? " class=\"number\"" : "",
                     html_text(column.title));
}

std::string cell(const Cell& cell, const Column& column, bool names_row) {
  const std::string sorted = cell.value ? fmt::format(" data-value=\"{}\"", *cell.value) : std::string();
  const char* element = names_row ? "th scope=\"row\"" : "td";
  return fmt::format("<{}{}{}>{}</{}>", element, column.is_number ? " class=\"number\"" : "", sorted,
                     html_text(cell.text), names_row ? "th" : "td");
}

}  // namespace

std::string HtmlBlocks::block(const Block& block) {
  return std::visit(
      [this](const auto& each) -> std::string {
        using Kind = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Kind, Paragraph>) {
          return fmt::format("<p>{}</p>\n", html_text(each.text));
        } else if constexpr (std::is_same_v<Kind, Quote>) {
          return fmt::format("<p class=\"quote\">{}</p>\n", html_text(each.text));
        } else if constexpr (std::is_same_v<Kind, DataTable>) {
          return table(each, /*shows_caption=*/true);
        } else {
          return picture(each);
        }
      },
      block);
}

std::string HtmlBlocks::table(const DataTable& table, bool shows_caption) {
  const int id = ++tables_;
  // A heading, since a caption is no wider than its table, be that ever so narrow.
  std::string text =
      fmt::format("<{0} id=\"caption-{1}\" class=\"{2}\">{3}</{0}>\n", shows_caption ? "h3" : "span", id,
                  shows_caption ? "caption" : "unseen", html_text(table.caption));
  text += fmt::format(
      "<div class=\"scroll\" role=\"group\" aria-labelledby=\"caption-{0}\">\n"
      "<table aria-labelledby=\"caption-{0}\">\n<thead><tr>",
      id);
  for (const Column& column : table.columns) text += head_cell(column);
  text += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    text += "<tr>";
    for (size_t at = 0; at < row.size(); ++at) text += cell(row[at], table.columns[at], at == 0);
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table>\n</div>\n";
}

std::string HtmlBlocks::picture(const Picture& picture) {
  std::string text =
      fmt::format("<figure{}>\n<figcaption><h3>{}</h3>\n{}</figcaption>\n",
                  picture.half ? " class=\"half\"" : "", html_text(picture.title), legend(picture));
  if (picture.half) {
    text += svg(picture, kHalf, "any");
  } else {
    text += svg(picture, kWide, "wide") + svg(picture, kNarrow, "narrow");
  }
  if (!picture.note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", html_text(picture.note));
  if (!picture.data.columns.empty()) {
    text += "<details>\n<summary>As a table<span class=\"unseen\">: " + html_text(picture.title) +
            "</span></summary>\n" + table(picture.data, /*shows_caption=*/false) + "</details>\n";
  }
  return text + "</figure>\n";
}

}  // namespace slipstream
