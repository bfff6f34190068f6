#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "app/console_observer.h"
#include "app/console_text.h"
#include "app/units.h"

namespace slipstream {
namespace {

using testing::HasSubstr;
using testing::Not;

Progress progress_of_training() {
  Progress progress;
  progress.phase = "train";
  progress.epoch = 3;
  progress.epochs = 90;
  progress.step = 50;
  progress.steps = 100;
  progress.images_per_s = 6104.2;
  progress.loss = 2.3142f;
  progress.lr = 0.0987;
  progress.data_wait_share = 0.004;
  progress.left_s = 5000;
  return progress;
}

EpochReport report_without_gpu() {
  EpochReport report;
  report.epoch = 3;
  report.wall_s = 14.2;
  report.images_per_s = 6104;
  report.data_wait_s = 0.1;
  report.decode_s = 2.125;
  report.hidden_share = 0.98;
  report.train_loss = 2.25;
  report.train_top1 = 0.482;
  report.bottleneck = "The step limits this epoch: try --amp fp16.";
  return report;
}

TEST(ProgressText, ShowsAllWhereThereIsRoom) {
  EXPECT_EQ(
      progress_text(progress_of_training(), 120),
      "epoch 3/90 [===============>              ] 50/100  6,104 images/s  loss 2.314  lr 0.0987  wait 0.4%"
      "  left 1 h 23 min");
}

TEST(ProgressText, NeverExceedsItsColumns) {
  for (int columns = 0; columns < 140; ++columns) {
    EXPECT_LE(progress_text(progress_of_training(), columns).size(), static_cast<size_t>(columns));
  }
  EXPECT_EQ(progress_text(progress_of_training(), 45), "epoch 3/90 50/100  6,104 images/s  loss 2.314");
}

TEST(ProgressText, SurvivesAnUnknownLength) {
  Progress progress;
  progress.phase = "validate";
  EXPECT_EQ(progress_text(progress, 60), "epoch 0/0 validate [                   ] 0/0  0.000 images/s");
}

TEST(EpochText, LeavesOutWhatIsUnknown) {
  EXPECT_EQ(
      epoch_text(report_without_gpu()),
      "epoch 3: 14.2 s, 6,104 images/s; data wait 0.100 s, decode 2.125 s; hidden 98.0%; train loss 2.250 "
      "top1 48.2%");
}

TEST(EpochText, SaysWhatTheGpuDid) {
  EpochReport report = report_without_gpu();
  report.gpu.kernels = 1;
  report.gpu.clock_mhz = 1841.6;
  report.gpu.power_w = 698.2;
  EXPECT_THAT(epoch_text(report), HasSubstr("; hidden 98.0%, GPU 100.0%, at 1,842 MHz, with 698 W; train"));
}

TEST(EpochText, SaysWhatShareOfTheStepsOwnRateItIs) {
  EpochReport report = report_without_gpu();
  report.alone_images_per_s = 6200;
  report.alone_share = 6104.0 / 6200;
  EXPECT_THAT(
      epoch_text(report),
      testing::StartsWith("epoch 3: 14.2 s, 6,104 images/s, 98.5% of the step alone (6,200); data wait"));
}

class ConsoleObserverTest : public testing::Test {
 protected:
  Console console(bool terminal) {
    return {terminal, [] { return 80; }, [this] { return now_; }};
  }

  double now_ = 0;
  std::ostringstream out_;
};

TEST_F(ConsoleObserverTest, PlainLinesComeEveryTenSeconds) {
  ConsoleObserver observer(out_, console(false));
  for (now_ = 0; now_ < 25; now_ += 1) observer.on_progress(progress_of_training());
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST_F(ConsoleObserverTest, ATerminalLineIsRewritten) {
  {
    ConsoleObserver observer(out_, console(true));
    for (now_ = 0; now_ < 0.5; now_ += 0.05) observer.on_progress(progress_of_training());
    EXPECT_EQ(out_.str().find('\n'), std::string::npos);
    observer.on_epoch(report_without_gpu());
    EXPECT_THAT(out_.str(), HasSubstr("\r\x1b[Kepoch 3: 14.2 s"));
    now_ += 1;
    observer.on_progress(progress_of_training());
  }
  EXPECT_EQ(out_.str().back(), '\n') << "what follows starts on a line of its own";
}

TEST_F(ConsoleObserverTest, AnEpochIsOneLineAndASentence) {
  ConsoleObserver observer(out_, console(false));
  observer.on_epoch(report_without_gpu());
  EXPECT_EQ(out_.str(), epoch_text(report_without_gpu()) + "\nThe step limits this epoch: try --amp fp16.\n");
}

TEST_F(ConsoleObserverTest, ManyBadFilesDoNotFloodIt) {
  ConsoleObserver observer(out_, console(false));
  for (int file = 0; file < 100; ++file) observer.on_bad_file("a.jpg", "cut short");
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  EXPECT_THAT(text, HasSubstr("bad_files.txt"));
}

TEST_F(ConsoleObserverTest, SaysWhereAllBadFilesAre) {
  ConsoleObserver observer(out_, console(false), "what --json writes");
  for (int file = 0; file < 9; ++file) observer.on_bad_file("a.jpg", "cut short");
  EXPECT_THAT(out_.str(), HasSubstr("Further files that are left out are in what --json writes only."));
  EXPECT_THAT(out_.str(), Not(HasSubstr("bad_files.txt")));
}

TEST(Units, AreForPeople) {
  EXPECT_EQ(rounded(0.5), "0.500");
  EXPECT_EQ(rounded(12.34), "12.3");
  EXPECT_EQ(rounded(999.6), "1,000");
  EXPECT_EQ(rounded(1234567), "1,234,567");
  EXPECT_EQ(rounded(-1234), "-1,234");
  EXPECT_EQ(rounded(-123), "-123");
  EXPECT_EQ(share_text(0.9734), "97.3%");
  EXPECT_EQ(seconds_text(14.23), "14.2 s");
  EXPECT_EQ(seconds_text(125), "2 min 5 s");
  EXPECT_EQ(seconds_text(12000), "3 h 20 min");
  EXPECT_EQ(seconds_text(200000), "2 d 7 h");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(109'000), "109 kB");
  EXPECT_EQ(bytes_text(12'340'000'000), "12.3 GB");
}

}  // namespace
}  // namespace slipstream
