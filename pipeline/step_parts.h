#pragma once

#include "pipeline/device.h"

namespace slipstream {

/// Where the parts of one step begin and end on the stream that it is queued on.
class StepParts {
 public:
  explicit StepParts(c10::Stream compute)
      : compute_(compute),
        begin_(compute.device()),
        forward_(compute.device()),
        backward_(compute.device()),
        optimizer_(compute.device()) {}

  void begins() { begin_.record(compute_); }
  void forward_ends() { forward_.record(compute_); }
  void backward_ends() { backward_.record(compute_); }
  void optimizer_ends() { optimizer_.record(compute_); }

  // Once the step is done.
  double forward_s() const { return begin_.seconds_to(forward_); }
  double backward_s() const { return forward_.seconds_to(backward_); }
  double optimizer_s() const { return backward_.seconds_to(optimizer_); }  ///< with the loss scale and meters

 private:
  c10::Stream compute_;
  Event begin_, forward_, backward_, optimizer_;
};

}  // namespace slipstream
