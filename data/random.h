#pragma once

#include <ATen/core/PhiloxRNGEngine.h>

#include <cstdint>

namespace slipstream {

/// What the numbers are for; different purposes never share a stream.
enum class Draw : uint64_t { kOrder = 1, kCrop = 2, kSynth = 3 };

/// A counter-based generator (Philox4x32-10, Salmon et al., SC 2011; LibTorch's engine): the numbers are a
/// function of the key alone, so any thread or mode that asks for a sample's draws gets the same ones.
class Random {
 public:
  Random(uint64_t seed, Draw purpose, uint64_t epoch, uint64_t sample)
      : engine_(seed ^ (static_cast<uint64_t>(purpose) << 56), sample, epoch << 32) {}

  uint32_t bits() { return engine_(); }

  /// Uniform in [0, 1), 24 bits.
  double uniform() { return (bits() >> 8) * 0x1p-24; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform in [0, bound): Lemire's multiplication, with his rejection of the biased remainder.
  uint32_t below(uint32_t bound) {
    uint64_t product = static_cast<uint64_t>(bits()) * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t threshold = -bound % bound;
      while (static_cast<uint32_t>(product) < threshold) product = static_cast<uint64_t>(bits()) * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

 private:
  at::Philox4_32 engine_;
};

}  // namespace slipstream
