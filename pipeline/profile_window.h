#pragma once

#include <cstdint>

#include "pipeline/device.h"

namespace slipstream {

/// Steps, counted from 1; both are among them.
struct StepSpan {
  int64_t first, last;
};

/// Which of an epoch's steps a profiler is to record: 20 to 30, warm and few. Of a shorter epoch its last
/// ones, 11 at most.
StepSpan profiled_steps(int64_t steps);

/// Lets an attached profiler record those steps of the first epoch that a run trains, with nothing under way
/// on the compute stream when it begins and when it ends.
class ProfileWindow {
 public:
  /// `steps`: how many the epoch has.
  ProfileWindow(c10::Stream compute, int64_t steps) : compute_(compute), span_(profiled_steps(steps)) {}
  ~ProfileWindow();
  ProfileWindow(const ProfileWindow&) = delete;
  ProfileWindow& operator=(const ProfileWindow&) = delete;

  void begin_step();
  void end_step();

 private:
  c10::Stream compute_;
  StepSpan span_;
  int64_t step_ = 0;
  bool recording_ = false;
};

}  // namespace slipstream
