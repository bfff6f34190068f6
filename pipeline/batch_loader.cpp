#include "pipeline/batch_loader.h"

#include <algorithm>
#include <opencv2/core/utility.hpp>

#include "pipeline/trace.h"

namespace slipstream {

BatchLoader::BatchLoader(const LoaderOptions& options) : options_(options), stager_(options) {
  cv::setNumThreads(0);  // our workers are the parallelism; OpenCV's own would fight them
  const int64_t ring = options.schedule.threads ? options.prefetch : 1;
  for (int64_t i = 0; i < ring; ++i) slots_.push_back(std::make_unique<Slot>(options));
  unfilled_.resize(ring);
  const int workers = options.schedule.threads ? options.workers : 1;
  for (int i = 0; i < workers; ++i) {
    const int track = options.trace == nullptr ? 0 : options.trace->worker(i);
    preparers_.push_back(std::make_unique<SamplePreparer>(options, stager_.make_probe(), track));
  }
  if (!options.schedule.threads) return;
  for (const auto& preparer : preparers_) threads_.emplace_back([this, &preparer] { work(*preparer); });
  threads_.emplace_back([this] { stage_batches(); });
}

BatchLoader::~BatchLoader() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  threads_.clear();
  // Copies may still read the slots' memory.
  for (const auto& slot : slots_) slot->ready.wait_on_host();
}

void BatchLoader::enqueue(Pass pass) {
  auto shared = std::make_shared<const Pass>(std::move(pass));
  {
    const std::lock_guard lock(mutex_);
    if (shared->first_batch < shared->end_batch) to_open_.passes.push_back(shared);
    to_take_.passes.push_back(std::move(shared));
  }
  changed_.notify_all();
}

std::optional<Batch> BatchLoader::next() {
  std::unique_lock lock(mutex_);
  if (to_take_.passes.empty()) return std::nullopt;
  const auto pass = to_take_.passes.front();
  if (to_take_.batch < 0) to_take_.batch = pass->first_batch;
  if (to_take_.batch >= pass->end_batch) {
    to_take_.passes.pop_front();
    to_take_.batch = -1;
    return std::nullopt;
  }
  ++to_take_.batch;
  Slot& slot = slot_of(taken_);
  if (options_.schedule.threads) {
    changed_.wait(lock, [&] { return taken_ < staged_; });
  } else {
    open_next_slot(lock);
    lock.unlock();
    prepare_inline(slot);
    lock.lock();
  }
  ++taken_;
  lock.unlock();
  return hand_out(slot);
}

void BatchLoader::prepare_inline(Slot& slot) {
  for (int64_t i = 0; i < slot.count; ++i) preparers_.front()->prepare(slot, i);
  if (!slot.error) stager_.stage(slot);
}

Batch BatchLoader::hand_out(Slot& slot) {
  if (slot.error) std::rethrow_exception(slot.error);
  make_stream_wait(options_.compute, slot.ready);
  Batch batch{slot.images.narrow(0, 0, slot.count),
              slot.labels.narrow(0, 0, slot.count),
              slot.count,
              slot.times,
              {},
              taken_ - 1};
  std::ranges::sort(slot.bad_files, {}, &std::pair<int64_t, BadFile>::first);
  for (auto& [position, file] : slot.bad_files) batch.bad_files.push_back(std::move(file));
  return batch;
}

void BatchLoader::release(const Batch& batch) {
  slot_of(batch.sequence).consumed.record(options_.compute);
  {
    const std::lock_guard lock(mutex_);
    ++released_;
  }
  changed_.notify_all();
}

bool BatchLoader::can_open() const {
  return !opening_ && !to_open_.passes.empty() && opened_ - released_ < static_cast<int64_t>(slots_.size());
}

// Called with the lock held; drops it while the slot's last batch may still be read from host memory.
void BatchLoader::open_next_slot(std::unique_lock<std::mutex>& lock) {
  const auto pass = to_open_.passes.front();
  const int64_t batch = to_open_.batch < 0 ? pass->first_batch : to_open_.batch;
  to_open_.batch = batch + 1;
  if (to_open_.batch == pass->end_batch) {
    to_open_.passes.pop_front();
    to_open_.batch = -1;
  }
  Slot& slot = slot_of(opened_);
  opening_ = true;
  lock.unlock();
  slot.ready.wait_on_host();
  slot.begin(pass, batch, opened_, options_);
  lock.lock();
  opening_ = false;
  unfilled(opened_) = slot.count;
  next_position_ = 0;
  end_position_ = slot.count;
  ++opened_;
}

std::optional<BatchLoader::Task> BatchLoader::take_task() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    if (next_position_ < end_position_) return Task{opened_ - 1, next_position_++};
    if (can_open()) {
      open_next_slot(lock);
      changed_.notify_all();
    } else {
      changed_.wait(lock);
    }
  }
  return std::nullopt;
}

void BatchLoader::work(SamplePreparer& preparer) {
  while (const auto task = take_task()) {
    Slot& slot = slot_of(task->sequence);
    try {
      preparer.prepare(slot, task->position);
    } catch (...) {  // no bad file, but out of memory or the like: the training thread rethrows it
      slot.fail(task->position, std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    if (--unfilled(task->sequence) == 0) changed_.notify_all();
  }
}

void BatchLoader::stage_batches() {
  std::unique_lock lock(mutex_);
  const auto filled = [&] { return staged_ < opened_ && unfilled(staged_) == 0; };
  while (true) {
    changed_.wait(lock, [&] { return closing_ || filled(); });
    if (closing_) return;
    Slot& slot = slot_of(staged_);
    lock.unlock();
    try {
      if (!slot.error) stager_.stage(slot);
    } catch (...) {
      slot.fail(0, std::current_exception());
    }
    lock.lock();
    ++staged_;
    changed_.notify_all();
  }
}

}  // namespace slipstream
