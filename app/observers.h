#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/run_observer.h"

namespace slipstream {

/// Tells several observers, in their order. They must outlive it.
class Observers final : public RunObserver {
 public:
  explicit Observers(std::vector<RunObserver*> observers) : observers_(std::move(observers)) {}

  void on_message(const std::string& sentence) override {
    for (RunObserver* each : observers_) each->on_message(sentence);
  }
  void on_indexed(int64_t classes_done, int64_t classes, int64_t files) override {
    for (RunObserver* each : observers_) each->on_indexed(classes_done, classes, files);
  }
  void on_start(int64_t epoch, int64_t step) override {
    for (RunObserver* each : observers_) each->on_start(epoch, step);
  }
  void on_progress(const Progress& progress) override {
    for (RunObserver* each : observers_) each->on_progress(progress);
  }
  void on_step(const StepRecord& step) override {
    for (RunObserver* each : observers_) each->on_step(step);
  }
  void on_epoch(const EpochReport& report) override {
    for (RunObserver* each : observers_) each->on_epoch(report);
  }
  void on_trace(const Trace& trace) override {
    for (RunObserver* each : observers_) each->on_trace(trace);
  }
  void on_bad_file(const std::string& path, const std::string& why) override {
    for (RunObserver* each : observers_) each->on_bad_file(path, why);
  }

 private:
  std::vector<RunObserver*> observers_;
};

}  // namespace slipstream
