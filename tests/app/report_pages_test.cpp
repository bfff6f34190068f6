// What the writers make of a document: escaping, structure, the same numbers in both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/report/escape.h"
#include "app/report/html_page.h"
#include "app/report/markdown_page.h"
#include "app/report/page_assets.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

Document example() {
  const DataTable data{.caption = "Times <b>",
                       .columns = {{"run"}, {"time | s", true}},
                       .rows = {{{"a|b", {}}, {"1.500 s", 1.5}}, {{"c\nd", {}}, {"-", {}}}}};
  const auto draw = [](double width) {
    Drawing drawing(width, 20);
    drawing.text({0, 10}, "inside", Anchor::kStart);
    return drawing;
  };
  return {
      .title = "Report: <x> & 'y'",
      .subtitle = "{{title}} 1 run",  // a value that looks like the skeleton's own is left alone
      .sections = {{"One", {Quote{"2.4x *faster*"}, Paragraph{"</script><script>alert(1)</script>"}, data}},
                   {"Two",
                    {Picture{.title = "Times",
                             .description = "Bars. a: 1.5 s \"quoted\".",
                             .draw = draw,
                             .legend = {{"compute <1>", "s1"}},
                             .note = "A note.",
                             .data = data}}}}};
}

TEST(ReportEscape, HtmlTakesNoTextForMarkup) {
  EXPECT_EQ(html_text("<a href=\"x\">&'</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(html_text("größer 10⁶"), "größer 10⁶");
  EXPECT_EQ(html_text("bad \xff\xc3 end"), "bad \xEF\xBF\xBD\xEF\xBF\xBD end");
  EXPECT_EQ(html_text(std::string_view("a\0b\x1b", 4)), "a b ");
}

TEST(ReportEscape, MarkdownTakesNoTextForMarkup) {
  EXPECT_EQ(markdown_text("batch_size"), "batch_size");
  EXPECT_EQ(markdown_text("_a_ *b* `c` [d](e) a|b"), "\\_a\\_ \\*b\\* \\`c\\` \\[d\\](e) a\\|b");
  EXPECT_EQ(markdown_text("<img src=x> & \\ ~~x~~"), "&lt;img src=x> &amp; \\\\ \\~\\~x\\~\\~");
  EXPECT_EQ(markdown_text("two\nlines\r\n"), "two lines  ");
}

TEST(ReportMarkdown, HasTheTablesAndTheFiguresWords) {
  const std::string text = markdown_page(example());
  EXPECT_THAT(text, testing::StartsWith("# Report: &lt;x> &amp; 'y'\n\n"));
  EXPECT_THAT(text, HasSubstr("## One\n\n> 2.4x \\*faster\\*\n"));
  EXPECT_THAT(text, HasSubstr("&lt;/script>&lt;script>alert(1)"));
  const std::string table =
      "| run | time \\| s |\n"
      "|---|---:|\n"
      "| a\\|b | 1.500 s |\n"
      "| c d | - |\n";
  EXPECT_EQ(count(text, table), 2U);  // alone and behind the figure
  EXPECT_THAT(text, HasSubstr("### Times\n\nBars. a: 1.5 s \"quoted\".\n\nA note.\n\n| run"));
}

TEST(ReportHtml, IsOnePageWithItsStyleAndScriptAndNothingElse) {
  const std::string page = html_page(example());
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>\n<html lang=\"en\">"));
  EXPECT_THAT(page, HasSubstr("<title>Report: &lt;x&gt; &amp; &#39;y&#39;</title>"));
  EXPECT_THAT(page, HasSubstr("<p>{{title}} 1 run</p>"));
  EXPECT_EQ(count(page, std::string(kPageCss)), 1U);
  EXPECT_EQ(count(page, std::string(kPageJs)), 1U);
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy\" content=\"default-src 'none'"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("http://")), Not(HasSubstr("https://")), Not(HasSubstr("src=\""))));
  EXPECT_EQ(count(page, "<script>"), 1U);
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)"));
}

TEST(ReportHtml, FiguresHaveTextAlternativesAndTables) {
  const std::string page = html_page(example());
  const std::string label = "role=\"img\" aria-label=\"Times. Bars. a: 1.5 s &quot;quoted&quot;.\"";
  EXPECT_EQ(count(page, label), 2U);  // the wide drawing and the narrow one
  EXPECT_EQ(count(page, ">inside</text>"), 2U);
  EXPECT_THAT(page, HasSubstr("</svg>compute &lt;1&gt;</li>"));
  EXPECT_EQ(count(page, "<th scope=\"col\" class=\"number\">time | s</th>"), 2U);
  EXPECT_EQ(count(page, "<td class=\"number\" data-value=\"1.5\">1.500 s</td>"), 2U);
  EXPECT_EQ(count(page, "<td class=\"number\">-</td>"), 2U);
  EXPECT_THAT(page, HasSubstr("<a href=\"#section-2\">Two</a>"));
  EXPECT_EQ(count(page, "id=\"caption-1\""), 1U);
  EXPECT_EQ(count(page, "id=\"caption-2\""), 1U);
}

TEST(ReportHtml, ItsFilesAreThoseOfTheRepository) {
  const auto file = [](const char* name) {
    return test::read_text(test::source_folder() / "app/report" / name);
  };
  EXPECT_EQ(kPageHtml, file("page.html"));
  EXPECT_EQ(kPageCss, file("page.css"));
  EXPECT_EQ(kPageJs, file("page.js"));
}

}  // namespace
}  // namespace slipstream
