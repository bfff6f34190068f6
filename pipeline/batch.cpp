#include "pipeline/batch.h"

#include <algorithm>
#include <numeric>

namespace slipstream {

StageTimes& StageTimes::operator+=(const StageTimes& other) {
  read_s += other.read_s;
  decode_s += other.decode_s;
  resize_s += other.resize_s;
  h2d_s += other.h2d_s;
  compute_s += other.compute_s;
  data_wait_s += other.data_wait_s;
  device_input_s += other.device_input_s;
  return *this;
}

InputTimes::InputTimes(c10::Device device)
    : decode_begin(device), decoded(device), begin(device), copied(device), resized(device) {}

StageTimes InputTimes::stage_times() const {
  StageTimes times;
  times.read_s = static_cast<double>(read_ns) * 1e-9;
  times.decode_s = static_cast<double>(decode_ns) * 1e-9;
  times.resize_s = static_cast<double>(resize_ns) * 1e-9;
  times.h2d_s = begin.seconds_to(copied);
  const double device_decode_s = on_device ? decode_begin.seconds_to(decoded) : 0;
  const double device_resize_s = copied.seconds_to(resized);
  times.decode_s += device_decode_s;
  times.resize_s += device_resize_s;
  times.device_input_s = device_decode_s + device_resize_s;
  return times;
}

Pass evaluation_pass(const ImageFolder& folder, int64_t batch_size, int64_t limit) {
  const auto images = static_cast<int64_t>(folder.samples.size());
  const int64_t batches = (images + batch_size - 1) / batch_size;
  Pass pass{
      .folder = &folder, .training = false, .order = std::vector<uint32_t>(images), .end_batch = batches};
  std::iota(pass.order.begin(), pass.order.end(), 0);
  if (limit > 0) pass.end_batch = std::min(batches, limit);
  return pass;
}

}  // namespace slipstream
