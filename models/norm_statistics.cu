#include "models/norm_launch.cuh"
#include "models/norm_reduce.cuh"

namespace slipstream {
namespace {

// So many threads have the registers that they need, and a multiprocessor's have 57 kB in flight.
constexpr int kThreads = 448;
constexpr int kBlocksPerMultiprocessor = 2;
constexpr int kTogether = 4;
constexpr int kSums = 2;

// How many rows of the matrix fall to all threads of a slice.
__device__ float rows_of_slice(int64_t rows, int slice) {
  const int64_t round = gridDim.y * static_cast<int64_t>(blockDim.y);
  const int64_t rest = rows % round - static_cast<int64_t>(slice) * blockDim.y;
  const int64_t last = rest < 0 ? 0 : (rest < blockDim.y ? rest : blockDim.y);
  return static_cast<float>(rows / round * blockDim.y + last);
}

// `spread`: the sum of squared differences from the mean.
__device__ void write_statistics(const StatisticsJob& job, int channel, float mean, float spread) {
  const float rows = static_cast<float>(job.matrix.rows);
  job.mean[channel] = mean;
  job.invstd[channel] = 1.0F / sqrtf(spread / rows + job.epsilon);
  const auto move = [&](float& running, float now) {
    running = (1 - job.momentum) * running + job.momentum * now;
  };
  move(job.running_mean[channel], mean);
  move(job.running_var[channel], spread / (rows - 1));
}

// Variance is computed of differences from a value near the mean, at each of three levels, and merged as Chan
// et al. do (1979): a thread's first value, the mean of the block's first row of threads, that of the first
// slice. The mean square less the square of the mean would cancel.
template <typename Value, int kSize>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    norm_statistics(const __grid_constant__ StatisticsJob job) {
  __shared__ ReduceMemory<kSums, kThreads> memory;
  __shared__ float block_origin[kMostTileChannels];
  const int64_t rows = job.matrix.rows;
  const int channels = job.matrix.channels;
  const Place place = my_place<kSize>(job.matrix);
  const Value* const x = static_cast<const Value*>(job.x) + place.channel;

  float origin[kSize] = {};
  float sum[kSize] = {};
  float squares[kSize] = {};
  float count = 0;
  if (place.inside && place.first < rows) {
    const auto first = load<kSize, Use::kAgain>(x + place.first * channels);
#pragma unroll
    for (int i = 0; i < kSize; ++i) origin[i] = to_float(first.values[i]);
    for_my_rows<kTogether>(
        place, rows, [&](int64_t row) { return load<kSize, Use::kAgain>(x + row * channels); },
        [&](int64_t, const Vector<Value, kSize>& vector) {
#pragma unroll
          for (int i = 0; i < kSize; ++i) {
            const float difference = to_float(vector.values[i]) - origin[i];
            sum[i] += difference;
            squares[i] = fmaf(difference, difference, squares[i]);
          }
        });
    count = static_cast<float>((rows - 1 - place.first) / place.stride + 1);
  }

  float mean[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    mean[i] = count > 0 ? origin[i] + sum[i] / count : 0;
    if (threadIdx.y == 0) block_origin[threadIdx.x * kSize + i] = mean[i];
  }
  __syncthreads();
  float moments[kSums][kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const float difference = count > 0 ? mean[i] - block_origin[threadIdx.x * kSize + i] : 0;
    const float spread = count > 0 ? squares[i] - sum[i] * (sum[i] / count) : 0;
    moments[0][i] = count * difference;
    moments[1][i] = fmaf(count * difference, difference, spread);
  }
  const Sums<kSums> block = sum_of_block<kSums, kThreads, kSize>(moments, memory);

  // A slice's partial: its mean, and its sum of squared differences from that.
  float* const partials = job.workspace.partials;
  const int thread = my_thread();
  const int tile = static_cast<int>(blockDim.x) * kSize;
  const int channel = static_cast<int>(blockIdx.x) * tile + thread;
  const bool mine = thread < tile && channel < channels;
  if (mine) {
    const float share = block.values[0] / rows_of_slice(rows, static_cast<int>(blockIdx.y));
    float* const partial = partials + (static_cast<int64_t>(blockIdx.y) * kSums) * channels + channel;
    partial[0] = block_origin[thread] + share;
    partial[channels] = block.values[1] - block.values[0] * share;
  }
  if (!last_of_tile(job.workspace.arrivals, memory.last)) return;

  const Sums<kSums> all = sum_of_slices<kSums, kThreads, kSize>(channels, memory, [&](int slice, int column) {
    const float* const partial = partials + (static_cast<int64_t>(slice) * kSums) * channels + column;
    const float slice_rows = rows_of_slice(rows, slice);
    const float difference = __ldcg(partial) - __ldcg(partials + column);
    return Sums<kSums>{slice_rows * difference,
                       fmaf(slice_rows * difference, difference, __ldcg(partial + channels))};
  });
  if (!mine) return;
  const float total = static_cast<float>(rows);
  const float share = all.values[0] / total;
  const float spread = fmaxf(all.values[1] - all.values[0] * share, 0);
  write_statistics(job, channel, __ldcg(partials + channel) + share, spread);
}

// Of sums that are known. A thread adds every blockDim.y-th part's of a channel, the first of them all.
constexpr int kSumsChannels = 64;
constexpr int kMostSumsThreads = 16;

__global__ void __launch_bounds__(kSumsChannels* kMostSumsThreads)
    norm_statistics_of_sums(const __grid_constant__ StatisticsJob job, const float* sums, int parts) {
  __shared__ double shared[kMostSumsThreads][kSums][kSumsChannels];
  const int channels = job.matrix.channels;
  const int column = static_cast<int>(threadIdx.x);
  const int channel = static_cast<int>(blockIdx.x) * kSumsChannels + column;
  double all[kSums] = {};
  if (channel < channels) {
#pragma unroll 4
    for (int part = static_cast<int>(threadIdx.y); part < parts; part += static_cast<int>(blockDim.y)) {
      for (int sum = 0; sum < kSums; ++sum) all[sum] += sums[(part * kSums + sum) * channels + channel];
    }
  }
  for (int sum = 0; sum < kSums; ++sum) shared[threadIdx.y][sum][column] = all[sum];
  __syncthreads();
  if (threadIdx.y != 0 || channel >= channels) return;
  for (int other = 1; other < static_cast<int>(blockDim.y); ++other) {
    for (int sum = 0; sum < kSums; ++sum) all[sum] += shared[other][sum][column];
  }
  const double mean = all[0] / static_cast<double>(job.matrix.rows);
  const double spread = fmax(all[1] - all[0] * mean, 0.0);
  write_statistics(job, channel, static_cast<float>(mean), static_cast<float>(spread));
}

NormGrid grid(const NormMatrix& matrix) {
  return norm_grid(matrix, kThreads, kBlocksPerMultiprocessor, kReduceLanes);
}

}  // namespace

int64_t statistics_floats(const NormMatrix& matrix) {
  return static_cast<int64_t>(grid(matrix).slices) * kSums * matrix.channels;
}

cudaError_t launch_statistics(const StatisticsJob& job, cudaStream_t stream) {
  const NormGrid g = grid(job.matrix);
  return for_type(job.matrix, [&]<typename Value, int kSize>() {
    norm_statistics<Value, kSize><<<g.blocks(), g.threads(), 0, stream>>>(job);
  });
}

cudaError_t launch_statistics_of_sums(const StatisticsJob& job, const float* sums, int parts,
                                      cudaStream_t stream) {
  const int blocks = (job.matrix.channels + kSumsChannels - 1) / kSumsChannels;
  const dim3 threads(kSumsChannels, static_cast<unsigned>(std::min(parts, kMostSumsThreads)));
  norm_statistics_of_sums<<<blocks, threads, 0, stream>>>(job, sums, parts);
  return cudaGetLastError();
}

}  // namespace slipstream
