#include "data/error.h"
#include "pipeline/device_graph.h"

namespace slipstream {

std::unique_ptr<DeviceGraph> record_graph(const std::function<void()>&) {
  throw Error("this build has no CUDA: build the preset 'cuda' (./quickstart.sh --cuda)");
}

}  // namespace slipstream
