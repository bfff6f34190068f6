#include "data/epoch_order.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <utility>

#include "data/error.h"
#include "data/random.h"

namespace slipstream {

std::vector<uint32_t> epoch_order(size_t samples, uint64_t seed, uint64_t epoch, int rank, int world_size) {
  if (rank < 0 || rank >= world_size) {
    throw Error(fmt::format("Rank {} isn't one of {} ranks, which count from 0.", rank, world_size));
  }
  if (samples > std::numeric_limits<uint32_t>::max()) {
    throw Error(fmt::format("{} images are too many to order: the limit is 4294967295.", samples));
  }

  std::vector<uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0U);
  Random random(seed, Draw::kOrder, epoch, 0);
  for (size_t left = samples; left > 1; --left) {  // Fisher and Yates
    std::swap(order[left - 1], order[random.below(static_cast<uint32_t>(left))]);
  }

  if (world_size == 1) return order;
  std::vector<uint32_t> share;
  share.reserve(samples / static_cast<size_t>(world_size) + 1);
  for (auto i = static_cast<size_t>(rank); i < samples; i += static_cast<size_t>(world_size)) {
    share.push_back(order[i]);
  }
  return share;
}

}  // namespace slipstream
