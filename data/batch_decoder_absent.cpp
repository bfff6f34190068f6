#include "data/batch_decoder.h"
#include "data/error.h"

namespace slipstream {

std::unique_ptr<BatchDecoder> make_batch_decoder(c10::Device) {
  throw UsageError("--decode cuda needs a build with CUDA: build the preset 'cuda' (./quickstart.sh --cuda)");
}

bool has_batch_decoder() { return false; }

}  // namespace slipstream
