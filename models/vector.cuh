#pragma once

#include <cstring>

#include "data/float_conversion.cuh"

// Vectors of neighbouring channels, which are loaded and stored at once.
namespace slipstream {

template <typename Value, int kSize>
struct alignas(sizeof(Value) * kSize) Vector {
  Value values[kSize];
};

// The built-in type of so many bytes, which is loaded and stored at once.
template <size_t kBytes>
struct WordOf;
template <>
struct WordOf<16> {
  using Type = uint4;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<4> {
  using Type = unsigned;
};
template <>
struct WordOf<2> {
  using Type = unsigned short;
};
template <>
struct WordOf<1> {
  using Type = unsigned char;
};

/// Whether what is loaded will be read again soon, and should stay in the cache.
enum class Use { kAgain, kLast };

template <int kSize, Use kUse, typename Value>
__device__ Vector<Value, kSize> load(const Value* from) {
  using Word = typename WordOf<sizeof(Value) * kSize>::Type;
  const Word* const address = reinterpret_cast<const Word*>(from);
  const Word word = kUse == Use::kLast ? __ldcs(address) : *address;
  Vector<Value, kSize> vector;
  memcpy(&vector, &word, sizeof word);
  return vector;
}

template <int kSize, typename Value>
__device__ void store(Value* to, const Vector<Value, kSize>& vector) {
  using Word = typename WordOf<sizeof(Value) * kSize>::Type;
  Word word;
  memcpy(&word, &vector, sizeof word);
  *reinterpret_cast<Word*>(to) = word;
}

template <typename Value, int kSize>
__device__ Vector<Value, kSize> rounded(const float (&values)[kSize]) {
  Vector<Value, kSize> vector;
#pragma unroll
  for (int i = 0; i < kSize; ++i) vector.values[i] = from_float<Value>(values[i]);
  return vector;
}

}  // namespace slipstream
