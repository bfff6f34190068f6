#include "pipeline/batch.h"

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

}  // namespace slipstream
