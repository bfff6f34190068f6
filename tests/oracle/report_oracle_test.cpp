// Opens report's page in a browser: report_oracle.py says what is looked at.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/app/report_fixture.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

TEST(ReportOracle, TheBrowserAndAxeHaveNothingToSay) {
  const std::string python = test::browser_python();
  if (python.empty()) {
    GTEST_SKIP()
        << "Chromium, its driver, or Python's selenium and axe aren't installed: scripts/setup.sh --oracle";
  }
  const test::TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string hostile = "<img src=x onerror=window.attacked=1>";
  test::write_run(folder.path() / hostile, {.utilisation = true, .trace = true});
  test::write_run(path("overlapped"), {.mode = "overlapped", .wait_s = 0.001});
  test::write_compare(path("compare"), "overlapped is 1.9x serial <script>window.attacked=1</script>");
  test::write_sweep(path("grid"), {{"lr", {0.1, 0.2, 0.4}}, {"workers", {2, 4}}});
  test::write_sweep(path("large"),
                    {{"lr", {0.1, 0.2, 0.4}}, {"workers", {2, 4}}, {"arch", {"resnet18", "resnet50"}}});
  test::write_sweep(path("one"), {{"workers", {1, 2}}});

  const auto made = test::run_command(
      fmt::format("cd {} && {} report '{}' overlapped compare grid large one --out page.html",
                  folder.path().string(), test::executable(), hostile));
  ASSERT_EQ(made.exit_code, 0) << made.errors;
  const std::string script = (test::source_folder() / "tests/oracle/report_oracle.py").string();
  const auto looked = test::run_command(fmt::format("{} {} {}", python, script, path("page.html")));
  EXPECT_EQ(looked.exit_code, 0) << looked.output << looked.errors;
  EXPECT_THAT(looked.output, HasSubstr("4 views, 0 findings"));
}

}  // namespace
}  // namespace slipstream
