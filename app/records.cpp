#include "app/records.h"

#include <fmt/format.h>

#include <cmath>

namespace slipstream {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json number(std::optional<double> value) { return value ? number(*value) : Json(); }
Json number(std::optional<int64_t> value) { return value ? Json(*value) : Json(); }

template <typename T>
std::string shortest(T value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

double milliseconds(double seconds) { return seconds * 1e3; }

Json kernels_record(const KernelSummary& kernels) {
  Json kinds = Json::object();
  for (const KernelKind kind : kKernelKinds) {
    kinds[name_of(kind)] = {{"ms", milliseconds(kernels.of(kind).seconds)},
                            {"launches", kernels.of(kind).launches}};
  }
  Json longest = Json::array();
  for (const KernelSummary::Kernel& kernel : kernels.longest) {
    longest.push_back({{"name", kernel.name},
                       {"kind", name_of(kernel.kind)},
                       {"ms", milliseconds(kernel.seconds)},
                       {"launches", kernel.launches}});
  }
  return {{"span_ms", milliseconds(kernels.span_s)},
          {"idle_ms", milliseconds(kernels.idle_s)},
          {"launches", kernels.launches()},
          {"kinds", kinds},
          {"longest", longest}};
}

}  // namespace

std::string csv_cell(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_string()) return value.dump();
  std::string quoted = "\"";
  for (const char letter : value.get<std::string>()) {
    quoted += letter;
    if (letter == '"') quoted += letter;
  }
  return quoted + "\"";
}

Json epoch_record(const EpochReport& report) {
  return {
      {"epoch", report.epoch},
      {"mode", report.mode},
      {"decode", report.decode},
      {"images", report.images},
      {"wall_s", number(report.wall_s)},
      {"images_per_s", number(report.images_per_s)},
      {"data_wait_s", number(report.data_wait_s)},
      {"read_s", number(report.read_s)},
      {"decode_s", number(report.decode_s)},
      {"resize_s", number(report.resize_s)},
      {"h2d_s", number(report.h2d_s)},
      {"compute_s", number(report.compute_s)},
      {"other_s", number(report.other_s)},
      {"hidden_share", number(report.hidden_share)},
      {"alone_images_per_s", number(report.alone_images_per_s)},
      {"alone_share", number(report.alone_share)},
      {"gpu_util", number(report.gpu.kernels)},
      {"gpu_clock_mhz", number(report.gpu.clock_mhz)},
      {"gpu_power_w", number(report.gpu.power_w)},
      {"gpu_power_limited", number(report.gpu.power_limited)},
      {"gpu_mem_bytes", number(report.gpu_mem_bytes)},
      {"train_loss", number(report.train_loss)},
      {"train_top1", number(report.train_top1)},
      {"val_loss", number(report.val_loss)},
      {"val_top1", number(report.val_top1)},
      {"val_top5", number(report.val_top5)},
      {"bottleneck", report.bottleneck},
  };
}

std::string epochs_csv(const Json& records) {
  std::string text;
  const Json header = epoch_record({});
  for (const auto& [key, value] : header.items()) text += (text.empty() ? "" : ",") + key;
  text += "\n";
  for (const Json& record : records) {
    std::string row;
    for (const auto& [key, value] : header.items()) {
      if (key != "epoch") row += ",";
      row += csv_cell(record.contains(key) ? record.at(key) : Json());
    }
    text += row + "\n";
  }
  return text;
}

std::string step_line(const StepRecord& step) {
  const StageTimes& times = step.times;
  return fmt::format(
      R"({{"epoch":{},"step":{},"images":{},"loss":{},"lr":{},"loss_scale":{},"begin_s":{},"read_s":{},"decode_s":{},)"
      R"("resize_s":{},"h2d_s":{},"compute_s":{},"data_wait_s":{}}})"
      "\n",
      step.epoch, step.step, step.images, shortest(step.loss), shortest(step.lr), shortest(step.loss_scale),
      shortest(step.begin_s), shortest(times.read_s), shortest(times.decode_s), shortest(times.resize_s),
      shortest(times.h2d_s), shortest(times.compute_s), shortest(times.data_wait_s));
}

Json input_record(const InputRate& rate) {
  const Json latency = {{"p50", number(rate.latency_p50_s * 1e3)},
                        {"p95", number(rate.latency_p95_s * 1e3)},
                        {"p99", number(rate.latency_p99_s * 1e3)}};
  return {
      {"mode", rate.mode},
      {"decode", rate.decode},
      {"images", rate.images},
      {"images_per_s", number(rate.images_per_s())},
      {"latency_ms", latency},
      {"read_s", number(rate.times.read_s)},
      {"decode_s", number(rate.times.decode_s)},
      {"resize_s", number(rate.times.resize_s)},
      {"h2d_s", number(rate.times.h2d_s)},
      {"cpu_s_per_1000_images", number(rate.cpu_s_per_1000_images())},
      {"cores", number(rate.cores())},
      {"jpeg_util", number(rate.jpeg_util)},
  };
}

Json compute_record(const ComputeRate& rate) {
  Json windows = Json::array();
  for (const double step_s : rate.step_s) windows.push_back(milliseconds(step_s));
  Json parts;
  if (rate.parts) {
    parts = {{"forward", milliseconds(rate.parts->forward_s)},
             {"backward", milliseconds(rate.parts->backward_s)},
             {"optimizer", milliseconds(rate.parts->optimizer_s)}};
  }
  Json traced;
  if (rate.traced) {
    traced = {{"step_ms", milliseconds(rate.traced->step_s)}};
    traced.update(kernels_record(rate.traced->kernels));
  }
  return {
      {"cuda_graph", rate.cuda_graph},
      {"why_no_graph", rate.why_no_graph},
      {"images_per_s", rate.images_per_s()},
      {"step_ms", milliseconds(rate.median_step_s())},
      {"steps", rate.steps},
      {"windows_ms", windows},
      {"parts_ms", parts},
      {"peak_bytes", number(rate.peak_bytes)},
      {"reserved_bytes", number(rate.reserved_bytes)},
      {"copy_bytes_per_s", number(rate.copy_bytes_per_s)},
      {"gpu_clock_mhz", number(rate.gpu.clock_mhz)},
      {"gpu_top_clock_mhz", number(rate.gpu.top_clock_mhz)},
      {"gpu_power_w", number(rate.gpu.power_w)},
      {"gpu_power_limited", number(rate.gpu.power_limited)},
      {"traced", traced},
      {"why_not_traced", rate.why_not_traced},
  };
}

}  // namespace slipstream
