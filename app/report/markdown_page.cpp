#include "app/report/markdown_page.h"

#include <fmt/format.h>

#include <type_traits>

#include "app/report/escape.h"

namespace slipstream {
namespace {

std::string table_text(const DataTable& table) {
  std::string head = "|", rule = "|", rows;
  for (const Column& column : table.columns) {
    head += fmt::format(" {} |", markdown_text(column.title));
    rule += column.is_number ? "---:|" : "---|";
  }
  for (const std::vector<Cell>& row : table.rows) {
    rows += "|";
    for (const Cell& cell : row) rows += fmt::format(" {} |", markdown_text(cell.text));
    rows += "\n";
  }
  return fmt::format("{}\n{}\n{}\n", head, rule, rows);
}

std::string picture_text(const Picture& picture) {
  std::string text =
      fmt::format("### {}\n\n{}\n\n", markdown_text(picture.title), markdown_text(picture.description));
  if (!picture.note.empty()) text += markdown_text(picture.note) + "\n\n";
  return picture.data.columns.empty() ? text : text + table_text(picture.data);
}

std::string block_text(const Block& block) {
  return std::visit(
      [](const auto& each) -> std::string {
        using Kind = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Kind, Paragraph>) {
          return markdown_text(each.text) + "\n\n";
        } else if constexpr (std::is_same_v<Kind, Quote>) {
          return "> " + markdown_text(each.text) + "\n\n";
        } else if constexpr (std::is_same_v<Kind, DataTable>) {
          return fmt::format("**{}**\n\n{}", markdown_text(each.caption), table_text(each));
        } else {
          return picture_text(each);
        }
      },
      block);
}

}  // namespace

std::string markdown_page(const Document& document) {
  std::string text =
      fmt::format("# {}\n\n{}\n", markdown_text(document.title), markdown_text(document.subtitle));
  for (const Section& section : document.sections) {
    text += fmt::format("\n## {}\n\n", markdown_text(section.title));
    for (const Block& block : section.blocks) text += block_text(block);
    text.pop_back();  // one empty line between sections, not two
  }
  return text;
}

}  // namespace slipstream
