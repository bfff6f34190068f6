#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace slipstream {

/// The order in which `rank` visits its share of `samples` in `epoch`: every world_size-th index, from the
/// rank-th on, of a shuffle of 0..samples-1 that all ranks agree on. The ranks' shares are disjoint and
/// together complete; they differ by one in length where world_size doesn't divide `samples`.
/// A pure function of its arguments, so a resumed run needs no state. Throws Error if `rank` isn't in
/// [0, world_size) or `samples` doesn't fit 32 bits.
std::vector<uint32_t> epoch_order(size_t samples, uint64_t seed, uint64_t epoch, int rank = 0,
                                  int world_size = 1);

}  // namespace slipstream
