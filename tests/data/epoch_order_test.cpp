#include "data/epoch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "data/error.h"

namespace slipstream {
namespace {

using Order = std::vector<uint32_t>;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Order sorted(Order order) {
  std::sort(order.begin(), order.end());
  return order;
}

Order identity(size_t samples) {
  Order order(samples);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

TEST(EpochOrder, IsAPermutation) {
  for (const size_t samples : {0U, 1U, 2U, 3U, 257U, 10000U}) {
    EXPECT_EQ(sorted(epoch_order(samples, 1, 1)), identity(samples)) << samples;
  }
}

TEST(EpochOrder, IsAFunctionOfItsArguments) {
  const Order order = epoch_order(1000, 5, 3);
  EXPECT_EQ(epoch_order(1000, 5, 3), order);
  EXPECT_NE(epoch_order(1000, 6, 3), order) << "another seed";
  EXPECT_NE(epoch_order(1000, 5, 4), order) << "another epoch";
  EXPECT_NE(order, identity(1000));
}

TEST(EpochOrder, StaysTheSameAcrossVersions) {
  EXPECT_THAT(epoch_order(10, 0, 1), ElementsAre(6, 9, 0, 2, 4, 3, 7, 5, 8, 1));
}

TEST(EpochOrder, BringsEveryPermutationEquallyOften) {
  constexpr int kEpochs = 24000;
  std::vector<int> counts(24);
  for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Order order = epoch_order(4, 0, epoch);
    Order permutation = identity(4);
    size_t rank = 0;
    while (permutation != order) {
      ASSERT_TRUE(std::next_permutation(permutation.begin(), permutation.end()));
      ++rank;
    }
    ++counts[rank];
  }
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 49.7);  // 23 degrees of freedom: exceeded once in a thousand seeds
}

TEST(EpochOrder, RanksShareTheSamplesOut) {
  for (const int world_size : {2, 3, 8}) {
    constexpr size_t kSamples = 1001;
    const Order whole = epoch_order(kSamples, 9, 2);
    Order together;
    for (int rank = 0; rank < world_size; ++rank) {
      const Order share = epoch_order(kSamples, 9, 2, rank, world_size);
      EXPECT_GE(share.size(), kSamples / static_cast<size_t>(world_size));
      EXPECT_LE(share.size(), kSamples / static_cast<size_t>(world_size) + 1);
      EXPECT_EQ(share[1], whole[static_cast<size_t>(rank + world_size)]);
      together.insert(together.end(), share.begin(), share.end());
    }
    EXPECT_EQ(sorted(together), identity(kSamples)) << world_size << " ranks";
  }
}

TEST(EpochOrder, GivesNothingToRanksBeyondTheSamples) {
  EXPECT_EQ(epoch_order(2, 0, 1, 1, 4).size(), 1U);
  EXPECT_THAT(epoch_order(2, 0, 1, 3, 4), IsEmpty());
}

TEST(EpochOrder, RejectsWhatItCannotOrder) {
  EXPECT_THAT([] { epoch_order(10, 0, 1, 2, 2); },
              ThrowsMessage<Error>(HasSubstr("Rank 2 isn't one of 2 ranks")));
  EXPECT_THAT([] { epoch_order(10, 0, 1, -1, 2); }, ThrowsMessage<Error>(HasSubstr("Rank -1")));
  EXPECT_THAT([] { epoch_order(10, 0, 1, 0, 0); }, ThrowsMessage<Error>(HasSubstr("0 ranks")));
  EXPECT_THAT([] { epoch_order(size_t{1} << 32, 0, 1); },
              ThrowsMessage<Error>(HasSubstr("4294967296 images")));
}

}  // namespace
}  // namespace slipstream
