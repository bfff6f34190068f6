#include "pipeline/evaluate_folder.h"

#include <c10/core/StreamGuard.h>

#include <chrono>

#include "pipeline/batch_loader.h"
#include "pipeline/compute_setup.h"
#include "pipeline/device.h"
#include "pipeline/index_folder.h"

namespace slipstream {

FolderEvaluation evaluate_folder(const TrainSetup& setup, RunObserver& observer) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const TrainOptions& options = setup.options;
  set_global_switches(setup);
  const c10::Stream compute = make_stream(setup.device, StreamPriority::kNormal);
  const c10::StreamGuard guard(compute);
  const ImageFolder folder = index_folder(
      setup.train_dir, indexing_threads(),
      [&](int64_t done, int64_t classes, int64_t files) { observer.on_indexed(done, classes, files); });
  ResNet model = make_model(setup, static_cast<int64_t>(folder.classes.size()));
  BatchLoader loader(setup.loader_options(compute));

  FolderEvaluation evaluation;
  const Clock::time_point start = Clock::now();
  Pass pass = evaluation_pass(folder, options.batch_size, options.limit_batches);
  Progress progress{.phase = "evaluate", .epoch = 1, .epochs = 1, .steps = pass.end_batch};
  loader.enqueue(std::move(pass));
  evaluation.means = evaluate(model, loader, setup, compute, [&](const Batch& batch) {
    evaluation.bad_files.insert(evaluation.bad_files.end(), batch.bad_files.begin(), batch.bad_files.end());
    const double elapsed = seconds_since(start);
    progress.images_per_s = static_cast<double>(progress.step * options.batch_size) / elapsed;
    ++progress.step;
    progress.left_s =
        elapsed / static_cast<double>(progress.step) * static_cast<double>(progress.steps - progress.step);
    observer.on_progress(progress);
  });
  evaluation.wall_s = seconds_since(start);
  return evaluation;
}

}  // namespace slipstream
