#include "data/error.h"
#include "data/normalise.h"

namespace slipstream {

void normalise_cuda(c10::Stream, const at::Tensor&, const at::Tensor&, const at::Tensor&) {
  throw Error("this build has no CUDA: build the preset 'cuda' (./quickstart.sh --cuda)");
}

}  // namespace slipstream
