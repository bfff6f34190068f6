#include "app/option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/json_file.h"
#include "app/train_options_table.h"
#include "data/error.h"
#include "tests/support/test_support.h"

namespace slipstream {
namespace {

using test::TemporaryFolder;
using test::write_text;
using testing::EndsWith;
using testing::HasSubstr;

/// The train command's options, as the program reads them: a file, then flags.
class OptionTableTest : public testing::Test {
 protected:
  void read_file(const std::string& text) {
    write_text(path(), text);
    table_.read_file(path());
  }

  void read_flags(std::vector<std::string> arguments) {
    CLI::App app;
    app.allow_extras();
    table_.add_flags(app);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(arguments);
    refuse_unknown(app);
    table_.read_flags();
  }

  std::string path() const { return (folder_.path() / "run.json").string(); }

  template <typename Action>
  static std::string refusal(Action action) {
    try {
      action();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  std::string file_refusal(const std::string& text) {
    return refusal([&] { read_file(text); });
  }
  std::string flag_refusal(const std::vector<std::string>& arguments) {
    return refusal([&] { read_flags(arguments); });
  }

  TemporaryFolder folder_;
  TrainOptions options_;
  OptionTable table_ = train_options_table(options_);
};

TEST_F(OptionTableTest, DefaultsAreTheStructs) {
  read_flags({});
  EXPECT_EQ(options_.batch_size, 256);
  EXPECT_EQ(options_.mode, Mode::kOverlapped);
  EXPECT_EQ(table_.json().at("batch_size"), 256);
  EXPECT_EQ(table_.json().at("mode"), "overlapped");
}

TEST_F(OptionTableTest, TheFileSetsEveryType) {
  read_file(R"({"batch_size": 32, "lr": 1, "arch": "resnet18", "tf32": true, "amp": "bf16", "out": "a b"})");
  EXPECT_EQ(options_.batch_size, 32);
  EXPECT_EQ(options_.lr, 1.0);
  EXPECT_EQ(options_.arch, "resnet18");
  EXPECT_TRUE(options_.tf32);
  EXPECT_EQ(options_.amp, Amp::kBf16);
  EXPECT_EQ(options_.out, "a b");
}

TEST_F(OptionTableTest, FlagsSetEveryType) {
  read_flags(
      {"--batch-size", "32", "--lr=0.5", "--arch", "resnet18", "--tf32", "--amp", "fp16", "--workers", "-1"});
  EXPECT_EQ(options_.batch_size, 32);
  EXPECT_EQ(options_.lr, 0.5);
  EXPECT_EQ(options_.arch, "resnet18");
  EXPECT_TRUE(options_.tf32);
  EXPECT_EQ(options_.amp, Amp::kFp16);
  EXPECT_EQ(options_.workers, -1);
}

TEST_F(OptionTableTest, FlagsBeatTheFileAndTheFileBeatsDefaults) {
  read_file(R"({"epochs": 3, "seed": 7, "tf32": true})");
  read_flags({"--epochs", "5", "--no-tf32"});
  EXPECT_EQ(options_.epochs, 5);
  EXPECT_EQ(options_.seed, 7);
  EXPECT_FALSE(options_.tf32);
  EXPECT_EQ(options_.batch_size, 256);
}

TEST_F(OptionTableTest, SwitchesHaveFourForms) {
  read_flags({"--tf32", "--channels-last=true", "--no-reports", "--deterministic", "--deterministic=false"});
  EXPECT_TRUE(options_.tf32);
  EXPECT_TRUE(options_.channels_last);
  EXPECT_FALSE(options_.reports);
  EXPECT_FALSE(options_.deterministic);
  EXPECT_EQ(flag_refusal({"--tf32=maybe"}), "--tf32 must be true or false, not 'maybe'.");
}

TEST_F(OptionTableTest, TheLastOfRepeatedFlagsCounts) {
  read_flags({"--epochs", "5", "--epochs", "6"});
  EXPECT_EQ(options_.epochs, 6);
}

TEST_F(OptionTableTest, ResumeAloneIsAuto) {
  read_flags({"--resume", "--epochs", "5"});
  EXPECT_EQ(options_.resume, "auto");
  EXPECT_EQ(options_.epochs, 5);
}

TEST_F(OptionTableTest, ResumeTakesAFile) {
  read_flags({"--resume", "a.pt"});
  EXPECT_EQ(options_.resume, "a.pt");
}

TEST_F(OptionTableTest, ResolvedOptionsReadBackTheSame) {
  read_flags({"--lr", "0.1234567890123", "--weight-decay", "5e-5", "--seed", "9223372036854775807", "--out",
              "a \"b\"", "--no-reports", "--decode", "cuda"});
  const Json resolved = table_.json();
  TrainOptions again;
  OptionTable other = train_options_table(again);
  write_json(path(), resolved);
  other.read_file(path());
  EXPECT_EQ(other.json().dump(), resolved.dump());
  EXPECT_EQ(again.lr, 0.1234567890123);
  EXPECT_EQ(again.seed, INT64_MAX);
  EXPECT_FALSE(again.reports);
}

TEST_F(OptionTableTest, UnknownKeysNameFileKeyAndNearest) {
  EXPECT_EQ(file_refusal(R"({"batchsize": 32})"),
            path() + ":1: batchsize: there is no such option; did you mean batch_size?");
  EXPECT_THAT(file_refusal(R"({"batch-size": 32})"),
              EndsWith(":1: batch-size: there is no such option; did you mean batch_size?"));
}

TEST_F(OptionTableTest, UnknownFlagsNameTheNearest) {
  EXPECT_EQ(flag_refusal({"--bacth-size", "32"}), "--bacth-size: no such option; did you mean --batch-size?");
  EXPECT_EQ(flag_refusal({"--epoch=3"}), "--epoch: no such option; did you mean --epochs?");
  EXPECT_THAT(flag_refusal({"stray"}), HasSubstr("'stray' belongs to no option"));
}

TEST_F(OptionTableTest, WrongJsonTypesAreRefused) {
  const std::string at = path() + ":1: ";
  EXPECT_EQ(file_refusal(R"({"epochs": "3"})"),
            at + "epochs must be a whole number, 1 to 1000000, not \"3\".");
  EXPECT_THAT(file_refusal(R"({"epochs": 3.5})"), EndsWith("not 3.5."));
  EXPECT_THAT(file_refusal(R"({"epochs": true})"), EndsWith("not true."));
  EXPECT_EQ(file_refusal(R"({"lr": "fast"})"), at + "lr must be a number, 0 to 1000, not \"fast\".");
  EXPECT_EQ(file_refusal(R"({"tf32": 1})"), at + "tf32 must be true or false, not 1.");
  EXPECT_EQ(file_refusal(R"({"out": null})"), at + "out must be a string, not null.");
  EXPECT_EQ(file_refusal(R"({"amp": false})"), at + "amp must be one of off, fp16, bf16, not false.");
  EXPECT_EQ(options_.epochs, 90);
}

TEST_F(OptionTableTest, ValuesOutOfRangeAreRefused) {
  EXPECT_EQ(flag_refusal({"--batch-size", "0"}), "--batch-size must be a whole number, 1 to 65536, not '0'.");
  EXPECT_THAT(file_refusal(R"({"batch_size": 65537})"), EndsWith("1 to 65536, not 65537."));
  EXPECT_THAT(file_refusal(R"({"seed": 18446744073709551615})"), EndsWith("not 18446744073709551615."));
  EXPECT_THAT(file_refusal(R"({"seed": -1})"), EndsWith("0 or more, not -1."));
  EXPECT_THAT(file_refusal(R"({"momentum": 1.5})"), EndsWith("0 to 1, not 1.5."));
  EXPECT_EQ(options_.batch_size, 256);
}

TEST_F(OptionTableTest, MalformedNumbersAreRefused) {
  for (const char* text : {"", "ten", "1.5", "12x", " 3", "9223372036854775808"}) {
    EXPECT_THAT(flag_refusal({"--epochs=" + std::string(text), "--tf32"}), HasSubstr("--epochs")) << text;
  }
  for (const char* text : {"nan", "inf", "-0.1", "0.1.2", "1e999"}) {
    EXPECT_THAT(flag_refusal({"--lr", text}), HasSubstr("--lr must be a number, 0 to 1000")) << text;
  }
}

TEST_F(OptionTableTest, UnknownNamesGetTheNearest) {
  EXPECT_EQ(flag_refusal({"--mode", "overlaped"}),
            "--mode must be one of serial, pinned, overlapped, not 'overlaped'; did you mean 'overlapped'?");
  EXPECT_EQ(file_refusal(R"({"bad_files": "skipp"})"),
            path() + ":1: bad_files must be one of stop, skip, not 'skipp'; did you mean 'skip'?");
  EXPECT_THAT(flag_refusal({"--arch", "resnet-50"}), EndsWith("did you mean 'resnet50'?"));
}

TEST_F(OptionTableTest, MalformedJsonIsPlaced) {
  EXPECT_THAT(file_refusal("{\n  \"epochs\": 3,\n  oops\n}"),
              HasSubstr(path() + ": not valid JSON, line 3, column 3"));
  EXPECT_THAT(file_refusal(""), HasSubstr("line 1, column 1"));
  EXPECT_THAT(file_refusal(R"({"lr": 1e999})"), HasSubstr(path() + ": not valid JSON"));
  EXPECT_EQ(file_refusal("[1]"), path() + ": holds array, but must hold one JSON object.");
}

TEST_F(OptionTableTest, SentencesHaveTheLine) {
  EXPECT_EQ(file_refusal("{\n  \"epochs\": 3,\n\n  \"lr\": -1\n}"),
            path() + ":4: lr must be a number, 0 to 1000, not -1.");
}

TEST_F(OptionTableTest, DuplicateKeysAreRefused) {
  EXPECT_EQ(file_refusal(R"({"epochs": 3, "lr": 1, "epochs": 4})"),
            path() + ":1: epochs stands twice; keep one of them.");
}

TEST_F(OptionTableTest, AMissingFileIsNamed) {
  const std::string missing = (folder_.path() / "none.json").string();
  EXPECT_THAT(refusal([&] { table_.read_file(missing); }), HasSubstr(missing));
}

TEST_F(OptionTableTest, HelpShowsRangeDefaultAndGroup) {
  CLI::App app;
  table_.add_flags(app);
  EXPECT_EQ(app.get_option("--batch-size")->get_description(),
            "Images in a batch. [1 to 65536; default 256]");
  EXPECT_EQ(app.get_option("--batch-size")->get_group(), "Training");
  EXPECT_THAT(app.get_option("--amp")->get_description(), EndsWith("[off, fp16, bf16; default off]"));
  EXPECT_EQ(app.get_options().size(), table_.json().size() + 1);  // and --help
}

TEST_F(OptionTableTest, KeepsWhatAnotherCommandTakes) {
  table_.keep({"batch_size", "workers"});
  int64_t batches = 0;
  table_.integer("batches", batches, 0, 10, "Batches to measure.");
  read_flags({"--batches", "3", "--batch-size", "4"});
  EXPECT_EQ(batches, 3);
  EXPECT_EQ(options_.batch_size, 4);
  EXPECT_EQ(table_.json(), Json({{"batch_size", 4}, {"workers", -1}, {"batches", 3}}));
  EXPECT_THAT(flag_refusal({"--lr", "0.1"}), HasSubstr("--lr: no such option"));
}

}  // namespace
}  // namespace slipstream
