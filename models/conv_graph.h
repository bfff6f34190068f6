#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/conv_problem.h"

namespace slipstream {

/// Device memory of a convolution, by what it holds; null: not of this pass. A pass reads two of x, weight
/// and y (or its gradient, for which the same names stand) and writes the third.
struct ConvPointers {
  void* x;
  void* weight;
  void* y;
  float* sums;  ///< [2, K]
};

/// One problem as cuDNN's graph API has it, with the engines that its heuristics offer, best first. All is
/// done on the current device; work is queued on its current stream.
class ConvGraph {
 public:
  /// Throws Error with cuDNN's words if there is no engine for it.
  explicit ConvGraph(const ConvProblem& problem);
  ~ConvGraph();
  ConvGraph(const ConvGraph&) = delete;
  ConvGraph& operator=(const ConvGraph&) = delete;

  /// cuDNN's names of the engines with their settings.
  std::vector<std::string> engines() const;

  /// Makes an engine ready to run, which may compile it; false if it turns out not to support the problem.
  bool build(int64_t engine);

  /// Runs an engine that was built; its workspace comes from LibTorch's allocator. Throws Error with cuDNN's
  /// words.
  void run(int64_t engine, const ConvPointers& pointers) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slipstream
