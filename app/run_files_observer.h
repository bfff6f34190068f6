#pragma once

#include <fstream>
#include <set>
#include <string>

#include "app/json.h"
#include "app/utilisation.h"
#include "pipeline/run_observer.h"

namespace slipstream {

/// A run's record in its folder: config.json, report.json and epochs.csv (each rewritten whole after an
/// epoch), steps.jsonl (a line a step), utilisation.csv (when steps were under way; this process's alone),
/// bad_files.txt (a line "path<TAB>reason" for each bad file) and, where asked for, trace.json.
/// Nothing is touched before training starts. Throws Error naming the file that can't be read or written.
class RunFilesObserver final : public RunObserver {
 public:
  /// `steps`: whether to write steps.jsonl and utilisation.csv.
  RunFilesObserver(std::string folder, Json config, bool steps);

  /// Where a trace goes, if there is one: "auto" is trace.json in the folder.
  void set_trace(const std::string& path) { trace_ = path; }

  /// Keeps what the folder records of before this point and drops the rest: rows of whole epochs below
  /// `epoch`, and steps up to `step` of `epoch`. Then writes config.json. At epoch 1, step 0 nothing is kept.
  void resume_at(int64_t epoch, int64_t step);

  void on_message(const std::string&) override {}
  void on_indexed(int64_t, int64_t, int64_t) override {}
  void on_start(int64_t epoch, int64_t step) override { resume_at(epoch, step); }
  void on_progress(const Progress&) override {}
  void on_step(const StepRecord& step) override;
  void on_epoch(const EpochReport& report) override;
  void on_trace(const Trace& trace) override;
  void on_bad_file(const std::string& path, const std::string& why) override;

 private:
  std::string path(const char* name) const { return folder_ + "/" + name; }
  void keep_epochs_before(int64_t epoch);
  void keep_steps_until(int64_t epoch, int64_t step);
  void keep_bad_files(bool keep);
  void begin_utilisation();
  void append_utilisation(const std::vector<UtilisationBin>& bins);
  void write_epochs() const;

  std::string folder_;
  Json config_;
  bool steps_;
  std::string trace_ = "auto";
  Json epochs_ = Json::array();
  std::ofstream step_lines_, utilisation_rows_;
  Utilisation utilisation_;
  std::set<std::string> bad_files_;  // the lines of bad_files.txt: one a file, however many epochs meet it
};

}  // namespace slipstream
