#include "app/report/steps_file.h"

#include <limits>

#include "app/json.h"
#include "app/report/text_lines.h"
#include "data/error.h"

namespace slipstream {
namespace {

double number(const Json& record, const char* key) {
  const Json& value = record.at(key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

StepRecord step_of(const Json& record) {
  StepRecord step{.epoch = record.at("epoch").get<int64_t>(),
                  .step = record.at("step").get<int64_t>(),
                  .images = record.at("images").get<int64_t>(),
                  .loss = static_cast<float>(number(record, "loss")),
                  .lr = number(record, "lr"),
                  .begin_s = number(record, "begin_s")};
  step.times = {.read_s = number(record, "read_s"),
                .decode_s = number(record, "decode_s"),
                .resize_s = number(record, "resize_s"),
                .h2d_s = number(record, "h2d_s"),
                .compute_s = number(record, "compute_s"),
                .data_wait_s = number(record, "data_wait_s")};
  return step;
}

}  // namespace

std::vector<StepRecord> read_steps(const std::string& file) {
  std::vector<StepRecord> steps;
  for_each_line(file, [&steps](std::string_view line, int) {
    try {
      steps.push_back(step_of(Json::parse(line)));
    } catch (const Json::exception&) {
      throw Error(R"(not a step as train writes it, {"epoch":1,"step":1,...}; remove the line.)");
    }
  });
  return steps;
}

double step_seconds(const StepRecord& step) { return step.times.data_wait_s + step.times.compute_s; }

}  // namespace slipstream
