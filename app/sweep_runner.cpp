#include "app/sweep_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

#include "app/console_text.h"
#include "app/sweep_figures.h"
#include "app/sweep_files.h"
#include "app/units.h"
#include "pipeline/stop_signal.h"

namespace slipstream {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(50);

/// "serial: done in 12.1 s, images/s 301, top-1 43.2%"
std::string ended_text(const SweepResult& result) {
  std::string text = fmt::format("{}: {}", result.name, status_name(result.status));
  if (result.status != RunStatus::kDone) return fmt::format("{}. {}", text, result.error);
  text += " in " + seconds_text(result.run_s);
  for (const Figure& figure : kFigures) {
    if (figure.more_is_better) text += fmt::format(", {} {}", figure.title, figure_cell(figure, &result));
  }
  return text;
}

}  // namespace

std::deque<DueRun> due_runs(const SweepPlan& plan, const SweepResults& results, bool retries) {
  std::deque<DueRun> due;
  for (const PlannedRun& run : plan.runs) {
    const SweepResult* result = results.find(run.config);
    if (result == nullptr) {
      due.push_back({&run});
    } else if (retries && result->status != RunStatus::kDone) {
      due.push_back({&run, /*anew=*/result->status == RunStatus::kFailed});
    }
  }
  return due;
}

SweepRunner::SweepRunner(const SweepPlan& plan, SweepResults& results, const SweepFolder& folder,
                         RunSettings settings, int64_t jobs, std::vector<std::string> gpus, Console console)
    : plan_(plan),
      results_(results),
      folder_(folder),
      settings_(std::move(settings)),
      gpus_(std::move(gpus)),
      console_(std::move(console)),
      line_(std::cout, console_),
      jobs_(static_cast<size_t>(jobs)),
      start_s_(console_.now()) {}

int SweepRunner::run(std::deque<DueRun> due) {
  const StopSignal stop_signal;
  due_ = static_cast<double>(due.size());
  bool stopping = false;
  while (true) {
    if (StopSignal::requested() != 0 && !stopping) {
      stopping = true;
      due.clear();
      line_.print("Stopping: runs write their checkpoints.");
      for (Job& job : jobs_) {
        if (job.run) job.run->stop(console_.now());
      }
    }
    for (size_t i = 0; i < jobs_.size(); ++i) {
      Job& job = jobs_[i];
      const std::string gpu = gpus_.empty() ? "" : gpus_[i % gpus_.size()];
      if (job.run && job.run->has_ended(console_.now())) finish(job, gpu);
      if (!job.run && !due.empty()) {
        start(job, gpu, due.front());
        due.pop_front();
      }
    }
    if (is_idle()) return StopSignal::requested();
    if (line_.is_due()) line_.show(progress());
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void SweepRunner::start(Job& job, const std::string& gpu, const DueRun& due) {
  job.run = std::make_unique<SweepRun>(*due.run, folder_, due.anew, gpu, settings_, console_.now());
  job.share_before = job.run->share_done();
  due_ -= job.share_before;
}

void SweepRunner::finish(Job& job, const std::string& gpu) {
  const std::unique_ptr<SweepRun> ended = std::move(job.run);
  done_ += 1 - job.share_before;
  const auto result = ended->result();
  if (!result) return;
  if (result->status == RunStatus::kFailed && ended->was_resumed()) {
    // It may have been the checkpoint; left alone, the run would have gone through without one.
    if (StopSignal::requested() != 0) return;
    line_.print(ended_text(*result) + " It begins anew.");
    due_ += 1;
    return start(job, gpu, {&ended->planned(), /*anew=*/true});
  }
  record(*result);
}

void SweepRunner::record(const SweepResult& result) {
  results_.add(result);
  write_sweep_files(folder_, plan_, sweep_rows(plan_, results_));
  line_.print(ended_text(result));
}

bool SweepRunner::is_idle() const {
  return std::none_of(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.run != nullptr; });
}

double SweepRunner::seconds_left() const {
  double done = done_;
  for (const Job& job : jobs_) {
    if (job.run) done += job.run->share_done() - job.share_before;
  }
  return done > 0 ? (console_.now() - start_s_) / done * (due_ - done) : 0;
}

std::string SweepRunner::progress() const {
  int64_t ended = 0, not_done = 0;
  for (const SweepRow& row : sweep_rows(plan_, results_)) {
    if (row.result == nullptr) continue;
    ++ended;
    if (row.result->status != RunStatus::kDone) ++not_done;
  }
  constexpr int kBar = 22;
  const auto runs = static_cast<int64_t>(plan_.runs.size());
  std::string text = fmt::format("sweep {}/{} {}", ended, runs, progress_bar(ended, runs, kBar));
  if (not_done > 0) text += fmt::format("  {} not done", not_done);
  if (const double left = seconds_left(); left > 0) text += "  left " + seconds_text(left);
  for (const Job& job : jobs_) {
    if (!job.run) continue;
    const PlannedRun& run = job.run->planned();
    text +=
        fmt::format("  {} {}/{}", run.name, job.run->epochs_done(), run.config.at("epochs").get<int64_t>());
  }
  return text;
}

}  // namespace slipstream
