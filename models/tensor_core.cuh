#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Tensor cores' instructions for 16-bit values, as the PTX manual has them (sections "ldmatrix" and
// "mma.m16n8k16"). Of a warp's 32 lanes, lane 4 * g + t holds the fragments' parts (g, t).
namespace slipstream {

/// A 16x16 tile of the first factor, row g: columns 2t and 2t+1 of rows g and g+8, then the same 8 columns
/// on.
struct FragmentA {
  unsigned words[4];
};

/// A 16x8 tile of the second, column g: rows 2t and 2t+1, then the same 8 rows on.
struct FragmentB {
  unsigned words[2];
};

/// A 16x8 tile of the product: columns 2t and 2t+1 of row g, then of row g+8.
struct FragmentC {
  float values[4];
};

/// An address as instructions on shared memory take it.
__device__ inline unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Four 8x8 tiles; lanes 8i to 8i+7 give the addresses of tile i's rows, 16 bytes each. Word i of lane (g, t)
/// is row g's columns 2t and 2t+1 of it.
__device__ inline void load_tiles(unsigned (&words)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(row));
}

/// The same tiles, each transposed: word i is rows 2t and 2t+1 of column g.
__device__ inline void load_tiles_transposed(unsigned (&words)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(row));
}

/// c += a * b, in float32.
template <typename Value>
__device__ void multiply_add(FragmentC& c, const FragmentA& a, const FragmentB& b);
template <>
__device__ inline void multiply_add<__half>(FragmentC& c, const FragmentA& a, const FragmentB& b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c.values[0]), "+f"(c.values[1]), "+f"(c.values[2]), "+f"(c.values[3])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), "r"(b.words[1]));
}
template <>
__device__ inline void multiply_add<__nv_bfloat16>(FragmentC& c, const FragmentA& a, const FragmentB& b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c.values[0]), "+f"(c.values[1]), "+f"(c.values[2]), "+f"(c.values[3])
      : "r"(a.words[0]), "r"(a.words[1]), "r"(a.words[2]), "r"(a.words[3]), "r"(b.words[0]), "r"(b.words[1]));
}

}  // namespace slipstream
