#include "models/conv_problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipstream {
namespace {

const char* name_of(ConvPass pass) {
  switch (pass) {
    case ConvPass::kForward:
      return "forward";
    case ConvPass::kForwardWithSums:
      return "forward with sums";
    case ConvPass::kDataGradient:
      return "data gradient";
    case ConvPass::kWeightGradient:
      return "weight gradient";
  }
  return "";
}

}  // namespace

std::array<int64_t, 4> ConvProblem::y() const {
  const auto side = [&](int64_t in, int64_t kernel) { return (in + 2 * padding - kernel) / stride + 1; };
  return {x[0], weight[0], side(x[2], weight[2]), side(x[3], weight[3])};
}

std::string ConvProblem::name() const {
  return fmt::format("{}, {}, x {}, weight {}, stride {}, padding {}", name_of(pass),
                     type == c10::kHalf ? "fp16" : "bf16", fmt::join(x, "x"), fmt::join(weight, "x"), stride,
                     padding);
}

}  // namespace slipstream
