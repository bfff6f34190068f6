// Tests of what runs on a GPU alone; the CPU's results are what they compare with.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "data/antialias.h"
#include "data/batch_decoder.h"
#include "data/decode.h"
#include "data/epoch_order.h"
#include "data/error.h"
#include "data/file_io.h"
#include "data/fused_image.h"
#include "data/fused_resize_kernel.h"
#include "data/normalise.h"
#include "data/pixel_type.h"
#include "data/resize.h"
#include "data/synth.h"
#include "pipeline/batch_loader.h"
#include "pipeline/compute_bench.h"
#include "pipeline/compute_setup.h"
#include "pipeline/device.h"
#include "pipeline/device_graph.h"
#include "pipeline/gpu_monitor.h"
#include "pipeline/index_folder.h"
#include "pipeline/synthetic_source.h"
#include "pipeline/trace.h"
#include "pipeline/train_step.h"
#include "pipeline/trainer.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace slipstream {
namespace {
namespace fs = std::filesystem;

using test::RecordingObserver;

const c10::Device kGpu(c10::kCUDA, 0);

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    configure_gpu_libraries();
    if (c10::cuda::device_count() == 0) GTEST_SKIP() << "this machine has no NVIDIA GPU";
  }
};

TEST_F(GpuTest, MonitorSeesTheGpuAtWork) {
  const auto monitor = make_gpu_monitor(kGpu);
  if (monitor == nullptr) GTEST_SKIP() << "this machine's driver comes without NVML";
  const at::Tensor matrix = at::rand({4096, 4096}, at::TensorOptions(kGpu));
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  while (std::chrono::steady_clock::now() < end) at::matmul(matrix, matrix)[0][0].item<float>();
  const GpuUse use = monitor->use();
  EXPECT_GT(*use.kernels, 0.3);
  EXPECT_LE(*use.kernels, 1);
  EXPECT_GT(*use.clock_mhz, 300);
  EXPECT_LE(*use.clock_mhz, *use.top_clock_mhz);
  EXPECT_GT(*use.power_w, 50);
  EXPECT_GE(*use.power_limited, 0);
  EXPECT_LE(*use.power_limited, 1);
  EXPECT_EQ(*use.jpeg_engines, 0);
  monitor->restart();
  EXPECT_FALSE(monitor->use().kernels);
}

std::vector<uint8_t> encode(const char* extension, int width, int height,
                            const std::vector<int>& options = {}) {
  cv::Mat image(height, width, CV_8UC3);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.at<cv::Vec3b>(y, x) = {static_cast<uint8_t>(255 * x / width),
                                   static_cast<uint8_t>(255 * y / height),
                                   static_cast<uint8_t>(127 + 100 * std::sin(x / 9.0) * std::cos(y / 7.0))};
    }
  }
  std::vector<uint8_t> bytes;
  cv::imencode(extension, image, bytes, options);
  return bytes;
}

struct Difference {
  double largest, rms;
};

Difference difference(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor delta = a.cpu().to(at::kDouble) - b.cpu().to(at::kDouble);
  return {delta.abs().max().item<double>(), delta.square().mean().sqrt().item<double>()};
}

TEST_F(GpuTest, NormalisesAsTheCpuBitForBit) {
  const at::Tensor pixels = at::randint(256, {5, 33, 33, 3}, at::TensorOptions(at::kByte));
  const at::Tensor flips = at::tensor({0, 1, 1, 0, 1}, at::kByte);
  const c10::Stream stream = make_stream(kGpu, StreamPriority::kNormal);
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const auto layout : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      const at::Tensor expected = at::empty({5, 3, 33, 33}, at::TensorOptions(type), layout);
      normalise_cpu(pixels, flips, expected);
      const at::Tensor found =
          at::full({5, 3, 33, 33}, 777, at::TensorOptions(type).device(kGpu)).contiguous(layout);
      const at::Tensor device_pixels = pixels.to(kGpu);
      const at::Tensor device_flips = flips.to(kGpu);
      at::cuda::getCurrentCUDAStream().synchronize();
      normalise(stream, device_pixels, device_flips, found);
      synchronise(stream);
      EXPECT_TRUE(at::equal(found.cpu(), expected)) << at::toString(type);
    }
  }
}

TEST_F(GpuTest, DecodesAndResizesAsTheCpuDoes) {
  const auto decoder = make_batch_decoder(kGpu);
  const auto probe = decoder->make_probe();
  std::vector<std::vector<uint8_t>> files;
  for (const auto& [width, height] : {std::pair{500, 375}, {224, 224}, {97, 301}, {640, 481}}) {
    files.push_back(encode(".jpg", width, height, {cv::IMWRITE_JPEG_QUALITY, 92}));
  }
  constexpr int kSize = 64;
  std::vector<EncodedImage> images;
  at::Tensor expected = at::empty({static_cast<int64_t>(files.size()), kSize, kSize, 3}, at::kByte);
  cv::Mat rgb;
  cv::Mat scratch;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto info = probe->info_if_supported(files[i]);
    ASSERT_TRUE(info) << "file " << i;
    decode_image(files[i], Exif::kIgnore, whole_image, rgb);
    ASSERT_EQ(info->size, rgb.size());
    const CropPlan plan = centre_crop(rgb.cols, rgb.rows, 73, kSize, Interpolation::kBilinear);
    images.push_back({files[i], info->size, plan, static_cast<int64_t>(i)});
    resize_window(rgb, plan, kSize, scratch, expected[static_cast<int64_t>(i)].data_ptr<uint8_t>());
  }
  const c10::Stream stream = make_stream(kGpu, StreamPriority::kNormal);
  const at::Tensor canvas = at::zeros(expected.sizes(), expected.options().device(kGpu));
  at::cuda::getCurrentCUDAStream().synchronize();
  EXPECT_TRUE(decoder->decode(stream, images).empty());
  decoder->resize_into(stream, images, canvas);
  synchronise(stream);
  for (int64_t i = 0; i < expected.size(0); ++i) {
    const Difference found = difference(canvas[i], expected[i]);
    EXPECT_LE(found.largest, 16) << "file " << i;  // chroma is upsampled without interpolation there
    EXPECT_LE(found.rms, 2) << "file " << i;
  }
}

TEST_F(GpuTest, FusedKernelMakesTheCpuPathsPixels) {
  constexpr int kSize = 64;
  struct Case {
    int width, height;
    CropPlan plan;
  };
  const std::vector<Case> cases = {{500, 375, {0, 0, 500, 375, kSize, kSize}},
                                   {97, 301, {0, 0, 97, 301, kSize, kSize}},
                                   {kSize, kSize, {0, 0, kSize, kSize, kSize, kSize}},
                                   {31, 17, {0, 0, 31, 17, 90, 73, 11, 4}},
                                   {1, 1, {0, 0, 1, 1, kSize, kSize}},
                                   {2000, 900, {0, 0, 2000, 900, 160, 73, 48, 4}},
                                   {500, 375, centre_crop(500, 375, 73, kSize, Interpolation::kBicubic)},
                                   {41, 33, centre_crop(41, 33, 73, kSize, Interpolation::kBicubic)}};
  const auto count = static_cast<int64_t>(cases.size());
  at::Tensor pixels = at::empty({count, kSize, kSize, 3}, at::kByte);
  const at::Tensor flips = at::tensor({0, 1, 1, 0, 1, 0, 1, 0}, at::kByte);
  std::vector<at::Tensor> crops;
  AntialiasedResize resize;
  FusedJob job{.count = static_cast<int>(count), .size = kSize};
  for (int64_t i = 0; i < count; ++i) {
    const auto& [width, height, plan] = cases[i];
    const at::Tensor crop = at::randint(256, {height, width, 3}, at::TensorOptions(at::kByte));
    resize(cv::Mat(height, width, CV_8UC3, crop.data_ptr()), plan, kSize, pixels[i].data_ptr<uint8_t>());
    crops.push_back(crop.to(kGpu));
    job.images[i] =
        fused_image(crops.back().data_ptr<uint8_t>(), 3 * width, plan, flips[i].item<uint8_t>() != 0);
  }
  at::cuda::getCurrentCUDAStream().synchronize();
  for (const auto type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    for (const auto layout : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}) {
      const at::Tensor expected = at::empty({count, 3, kSize, kSize}, at::TensorOptions(type), layout);
      normalise_cpu(pixels, flips, expected);
      const at::Tensor found =
          at::empty({count, 3, kSize, kSize}, at::TensorOptions(type).device(kGpu), layout);
      job.out = found.data_ptr();
      job.type = pixel_type(type);
      job.stride_n = found.stride(0);
      job.stride_c = found.stride(1);
      job.stride_y = found.stride(2);
      job.stride_x = found.stride(3);
      const auto stream = at::cuda::getCurrentCUDAStream();
      ASSERT_EQ(launch_fused_resize(job, stream.stream()), cudaSuccess);
      stream.synchronize();
      EXPECT_TRUE(at::equal(found.cpu(), expected)) << at::toString(type);
    }
  }
}

TEST_F(GpuTest, LeavesToTheCpuWhatItCannotDecode) {
  const auto decoder = make_batch_decoder(kGpu);
  const auto probe = decoder->make_probe();
  EXPECT_TRUE(probe->info_if_supported(encode(".jpg", 64, 48)));
  EXPECT_FALSE(probe->info_if_supported(encode(".png", 64, 48)));
  const auto jpeg = encode(".jpg", 64, 48);
  EXPECT_FALSE(probe->info_if_supported({jpeg.data(), jpeg.size() / 2}));  // truncated
  EXPECT_FALSE(probe->info_if_supported({}));
}

LoaderOptions gpu_loader_options(Mode mode, bool decode_on_device, Resizer resizer, c10::Stream compute) {
  return {.schedule = schedule_of(mode),
          .decode_on_device = decode_on_device,
          .resizer = resizer,
          .workers = 4,
          .prefetch = 3,
          .batch_size = 8,
          .image_size = 64,
          .val_resize = 73,
          .seed = 5,
          .compute = compute,
          .type = c10::kHalf,
          .channels_last = true};
}

// The batches of three passes, through slots that are used again.
std::vector<test::BatchCopy> batches_of(const ImageFolder& folder, const LoaderOptions& options) {
  BatchLoader loader(options);
  for (const int64_t epoch : {1, 2, 3}) {
    loader.enqueue({&folder, true, epoch, epoch_order(folder.samples.size(), 5, epoch), 0, 6});
  }
  std::vector<test::BatchCopy> batches;
  for (int pass = 0; pass < 3; ++pass) {
    for (auto& batch : test::take_pass(loader)) batches.push_back(std::move(batch));
  }
  return batches;
}

// The decoders differ in chroma's upsampling, and OpenCV's CUDA resize in where it samples when it enlarges:
// by up to half a source pixel.
struct ResizerCase {
  const char* name;
  Resizer resizer;
  double most_apart;  // RMS of normalised values, of a batch by the two decoders
};

class GpuBatchesTest : public GpuTest, public testing::WithParamInterface<ResizerCase> {};

TEST_P(GpuBatchesTest, AreTheSameInEveryModeForEachDecoder) {
  const ImageFolder folder =
      index_folder(test::small_folder() + "/train", 2, [](int64_t, int64_t, int64_t) {});
  const c10::Stream compute = make_stream(kGpu, StreamPriority::kNormal);
  const c10::StreamGuard guard(compute);
  std::vector<std::vector<test::BatchCopy>> by_decoder;
  for (const bool on_device : {false, true}) {
    const auto in_mode = [&](Mode mode) {
      return batches_of(folder, gpu_loader_options(mode, on_device, GetParam().resizer, compute));
    };
    auto serial = in_mode(Mode::kSerial);
    ASSERT_EQ(serial.size(), 18U);
    test::expect_equal_batches(in_mode(Mode::kPinned), serial);
    test::expect_equal_batches(in_mode(Mode::kOverlapped), serial);
    by_decoder.push_back(std::move(serial));
  }
  for (size_t i = 0; i < by_decoder[0].size(); ++i) {
    EXPECT_LE(difference(by_decoder[0][i].images, by_decoder[1][i].images).rms, GetParam().most_apart)
        << "batch " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Resizers, GpuBatchesTest,
                         testing::Values(ResizerCase{"Opencv", Resizer::kOpencv, 0.3},
                                         ResizerCase{"Fused", Resizer::kFused, 0.15}),
                         [](const auto& resizer) { return resizer.param.name; });

struct PhotographCase {
  const char* name;
  bool training;
  Interpolation val_interpolation;
  GpuDecode gpu_decode;
};

// In 8-bit steps, of every sample: what the GPU's path from file to tensor makes, less what the CPU's does,
// which are Pillow's pixels to the bit (PillowOracle).
std::vector<double> rms_by_photograph(const ImageFolder& folder, const PhotographCase& of) {
  const at::Tensor deviation = at::tensor({0.229, 0.224, 0.225}, at::kDouble).view({3, 1, 1}) * 255;
  const c10::Stream compute = make_stream(kGpu, StreamPriority::kNormal);
  const c10::StreamGuard guard(compute);
  std::vector<std::vector<test::BatchCopy>> batches;
  for (const bool on_device : {false, true}) {
    LoaderOptions options = gpu_loader_options(Mode::kOverlapped, on_device, Resizer::kFused, compute);
    options.image_size = 224;
    options.val_resize = 256;
    options.val_interpolation = of.val_interpolation;
    options.gpu_decode = of.gpu_decode;
    options.type = c10::kFloat;
    BatchLoader loader(options);
    const auto count = static_cast<int64_t>(folder.samples.size());
    loader.enqueue({&folder, of.training, 1, epoch_order(folder.samples.size(), 5, 1), 0, (count + 7) / 8});
    batches.push_back(test::take_pass(loader));
  }
  std::vector<double> each;
  for (size_t batch = 0; batch < batches[0].size(); ++batch) {
    const at::Tensor delta =
        (batches[1][batch].images.to(at::kDouble) - batches[0][batch].images.to(at::kDouble)) * deviation;
    for (int64_t i = 0; i < delta.size(0); ++i)
      each.push_back(delta[i].square().mean().sqrt().item<double>());
  }
  return each;
}

// How many files the GPU decodes exactly.
int64_t exact_files(const ImageFolder& folder) {
  const auto decoder = make_batch_decoder(kGpu);
  const auto probe = decoder->make_probe();
  std::vector<uint8_t> bytes;
  int64_t exact = 0;
  for (size_t i = 0; i < folder.samples.size(); ++i) {
    read_file(folder.path_of(i), bytes);
    const auto info = probe->info_if_supported(bytes);
    exact += info && info->exact ? 1 : 0;
  }
  return exact;
}

class GpuPhotographTest : public GpuTest, public testing::WithParamInterface<PhotographCase> {};

TEST_P(GpuPhotographTest, MakesNearlyPillowsPixels) {
  const auto photographs = test::shared_data("imagenet-sample");
  if (photographs.empty()) GTEST_SKIP() << "the photographs of ../shared/data/imagenet-sample are not here";
  const ImageFolder folder = index_folder(photographs.string(), 2, [](int64_t, int64_t, int64_t) {});
  const bool exact = GetParam().gpu_decode == GpuDecode::kExact;
  if (exact && !make_batch_decoder(kGpu)->has_engines()) GTEST_SKIP() << "this GPU has no JPEG engines";
  const std::vector<double> each = rms_by_photograph(folder, GetParam());
  ASSERT_EQ(each.size(), folder.samples.size());
  double squares = 0;
  for (const double rms : each) squares += rms * rms;
  const double all = std::sqrt(squares / static_cast<double>(each.size()));
  const double worst = *std::ranges::max_element(each);
  std::cout << "RMS " << all << " of 255, of the worst photograph " << worst << '\n';
  if (exact) {
    EXPECT_EQ(worst, 0);
    EXPECT_GT(exact_files(folder), std::ssize(folder.samples) / 2) << "the GPU hardly decoded";
    return;
  }
  EXPECT_GT(worst, 0) << "the GPU didn't decode";
  EXPECT_LE(worst, 2);
  EXPECT_LE(all, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Crops, GpuPhotographTest,
    testing::Values(PhotographCase{"Training", true, Interpolation::kBilinear, GpuDecode::kFast},
                    PhotographCase{"Evaluation", false, Interpolation::kBilinear, GpuDecode::kFast},
                    PhotographCase{"EvaluationBicubic", false, Interpolation::kBicubic, GpuDecode::kFast},
                    PhotographCase{"TrainingExact", true, Interpolation::kBilinear, GpuDecode::kExact},
                    PhotographCase{"EvaluationExact", false, Interpolation::kBilinear, GpuDecode::kExact}),
    [](const auto& crop) { return crop.param.name; });

TEST_F(GpuTest, NamesADamagedFileAndSkipsItOnRequest) {
  const test::TemporaryFolder temporary;
  const std::string root = (temporary.path() / "images").string();
  fs::create_directories(root + "/a");
  for (int i = 0; i < 8; ++i) {
    auto bytes = encode(".jpg", 120, 90);
    if (i == 5) std::fill(bytes.begin() + 200, bytes.begin() + 260, 0xFF);  // its tables are gone
    test::write_text(fs::path(root) / "a" / (std::to_string(i) + ".jpg"),
                     std::string(bytes.begin(), bytes.end()));
  }
  const ImageFolder folder = index_folder(root, 1, [](int64_t, int64_t, int64_t) {});
  const c10::Stream compute = make_stream(kGpu, StreamPriority::kNormal);
  LoaderOptions options = gpu_loader_options(Mode::kOverlapped, true, Resizer::kOpencv, compute);
  {
    BatchLoader loader(options);
    loader.enqueue(evaluation_pass(folder, 8, 0));
    EXPECT_THAT([&] { loader.next(); }, testing::ThrowsMessage<Error>(testing::HasSubstr("a/5.jpg")));
  }
  options.bad_files = BadFiles::kSkip;
  BatchLoader loader(options);
  loader.enqueue(evaluation_pass(folder, 8, 0));
  const auto batch = loader.next();
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->bad_files.size(), 1U);
  const at::Tensor labels = batch->labels.cpu();
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(labels[i].item<int64_t>(), i == 5 ? kIgnoredLabel : 0);
  loader.release(*batch);
}

TrainOptions gpu_options(const std::string& out) {
  fs::create_directories(out);
  TrainOptions options = test::small_options(out);
  options.device = "cuda";
  options.image_size = 64;
  options.channels_last = true;
  options.alone_seconds = 0;  // 4 seconds a run otherwise
  return options;
}

class GpuTrainingTest : public GpuTest {
 protected:
  std::string out(const std::string& name) const { return (folder_.path() / name).string(); }
  test::TemporaryFolder folder_;
};

TEST_F(GpuTrainingTest, GivesTheSameLossesInEveryModeAndWhenRepeated) {
  for (const Decoder decode : {Decoder::kCpu, Decoder::kCuda}) {
    for (const Amp amp : {Amp::kOff, Amp::kFp16}) {
      std::vector<float> expected;
      for (const Mode mode : {Mode::kSerial, Mode::kPinned, Mode::kOverlapped, Mode::kOverlapped}) {
        TrainOptions options = gpu_options(out("run"));
        options.decode = decode;
        options.amp = amp;
        options.mode = mode;
        const RecordingObserver seen = test::train_recording(options);
        std::vector<float> losses;
        for (const StepRecord& step : seen.steps) losses.push_back(step.loss);
        ASSERT_EQ(losses.size(), 12U);
        if (expected.empty()) expected = losses;
        EXPECT_EQ(losses, expected) << mode_name(mode);
      }
      EXPECT_NE(expected[0], expected[1]);
    }
  }
}

// LibTorch's sync-debug mode throws wherever an operator makes the host wait for the device.
TEST_F(GpuTrainingTest, NeverSynchronisesInTheOverlappedLoop) {
  class Observer : public RecordingObserver {
   public:
    void on_progress(const Progress& progress) override {
      const bool training = std::string_view(progress.phase) == "train";
      const bool last = progress.step == progress.steps;
      c10::cuda::warning_state().set_sync_debug_mode(
          training && !last ? c10::cuda::SyncDebugMode::L_ERROR : c10::cuda::SyncDebugMode::L_DISABLED);
      watched += training && !last ? 1 : 0;
    }
    int watched = 0;
  };
  for (const auto& [decode, graph] :
       {std::pair{Decoder::kCpu, false}, {Decoder::kCuda, false}, {Decoder::kCuda, true}}) {
    TrainOptions options = gpu_options(out("run"));
    options.decode = decode;
    options.cuda_graph = graph;
    options.amp = Amp::kFp16;
    options.log_interval = 2;
    Observer observer;
    train(options, observer);
    EXPECT_EQ(observer.steps.size(), 12U);
    EXPECT_EQ(observer.watched, 10);
  }
  // The mode works: an explicit wait is caught.
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
  EXPECT_THROW(at::ones({1}, at::TensorOptions(kGpu)).item<float>(), c10::Error);
  c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
}

// Across a validation and a checkpoint, with a learning rate that changes every step.
TEST_F(GpuTrainingTest, GivesTheSameLossesAndWeightsByAGraph) {
  for (const Amp amp : {Amp::kOff, Amp::kFp16}) {
    TrainOptions options = gpu_options(out("eager"));
    options.amp = amp;
    const RecordingObserver eager = test::train_recording(options);
    options.out = out("graph");
    options.cuda_graph = true;
    const RecordingObserver graph = test::train_recording(options);
    EXPECT_THAT(graph.messages, testing::IsEmpty());
    ASSERT_EQ(graph.steps.size(), 12U);
    test::expect_equal_losses(graph.steps, eager.steps);
    for (size_t i = 0; i < 12; ++i) EXPECT_EQ(graph.steps[i].loss_scale, eager.steps[i].loss_scale);
    test::expect_equal_weights(out("graph/model.pt"), out("eager/model.pt"));
    ASSERT_EQ(graph.epochs.size(), 2U);
    EXPECT_EQ(graph.epochs[1].val_loss, eager.epochs[1].val_loss);
    EXPECT_EQ(graph.epochs[1].train_top1, eager.epochs[1].train_top1);
    EXPECT_GT(*graph.epochs[1].gpu_mem_bytes, 11'000'000 * 4);
  }
}

TEST_F(GpuTrainingTest, AccumulatesGradientsByAGraphAsWithout) {
  for (const Amp amp : {Amp::kOff, Amp::kFp16}) {
    TrainOptions options = gpu_options(out("eager"));
    options.amp = amp;
    options.grad_accum_steps = 2;
    const RecordingObserver eager = test::train_recording(options);
    options.out = out("graph");
    options.cuda_graph = true;
    const RecordingObserver graph = test::train_recording(options);
    EXPECT_THAT(graph.messages, testing::IsEmpty());
    test::expect_equal_losses(graph.steps, eager.steps);
    test::expect_equal_weights(out("graph/model.pt"), out("eager/model.pt"));
  }
}

// Halves are exact but for float16's least numbers, so two equal batches train as one does.
TEST_F(GpuTrainingTest, TrainsByTwoEqualBatchesAsByOne) {
  for (const Amp amp : {Amp::kOff, Amp::kBf16, Amp::kFp16}) {
    const auto weights_after = [&](int64_t batches) {
      TrainOptions options = gpu_options(out("unused"));
      options.data.clear();
      options.synthetic = true;
      options.amp = amp;
      options.grad_accum_steps = std::max<int64_t>(1, batches);
      const TrainSetup setup = resolve(options);
      set_global_switches(setup);
      const c10::Stream compute = make_stream(kGpu, StreamPriority::kNormal);
      const c10::StreamGuard guard(compute);
      ResNet model = make_model(setup, 10);
      TrainStep step(model, setup);
      const Batch batch = SyntheticSource(setup.loader_options(compute), 10).batch();
      // So that no gradient overflows: one batch's would where two halves of it don't.
      for (auto& [name, tensor] : step.state()) {
        if (name == "loss_scale") tensor.fill_(1024);
      }
      for (int64_t i = 0; i < 2 * batches; ++i) step.run(batch, 0.01);
      return model.parameters().front().second.detach().cpu();
    };
    const at::Tensor none = weights_after(0);
    const at::Tensor one = weights_after(1);
    const at::Tensor two = weights_after(2);
    const double apart = (one - two).norm().item<double>() / (one - none).norm().item<double>();
    EXPECT_LE(apart, amp == Amp::kFp16 ? 0.05 : 0) << static_cast<int>(amp);
    EXPECT_GT((one - weights_after(3)).abs().max().item<double>(), 0) << "thirds aren't exact";
  }
}

TEST_F(GpuTrainingTest, ResumesByAGraphAsItWouldHaveGoneOn) {
  TrainOptions options = gpu_options(out("whole"));
  options.amp = Amp::kFp16;
  options.cuda_graph = true;
  options.lr_schedule = LrSchedule::kConstant;
  const RecordingObserver whole = test::train_recording(options);
  options.out = out("parts");
  options.epochs = 1;
  RecordingObserver first = test::train_recording(options);
  options.epochs = 2;
  options.resume = "auto";
  const RecordingObserver second = test::train_recording(options);
  ASSERT_EQ(second.steps.size(), 6U);
  first.steps.insert(first.steps.end(), second.steps.begin(), second.steps.end());
  test::expect_equal_losses(first.steps, whole.steps);
  test::expect_equal_weights(out("parts/model.pt"), out("whole/model.pt"));
}

TEST_F(GpuTrainingTest, RecordsWhatCudnnsBenchmarkChose) {
  setenv("SLIPSTREAM_CACHE", out("cache").c_str(), 1);  // choices are the test's own
  TrainOptions options = gpu_options(out("run"));
  options.amp = Amp::kFp16;
  options.deterministic = false;
  options.cudnn_benchmark = true;
  options.cuda_graph = true;
  const RecordingObserver seen = test::train_recording(options);
  EXPECT_THAT(seen.messages, testing::IsEmpty());
  ASSERT_EQ(seen.steps.size(), 12U);
  for (const StepRecord& step : seen.steps) EXPECT_TRUE(std::isfinite(step.loss)) << step.step;
}

// The folder has 48 images.
TEST_F(GpuTrainingTest, TrainsOnASmallerBatchWithoutTheGraphAndSaysSo) {
  TrainOptions options = gpu_options(out("eager"));
  options.batch_size = 64;
  const RecordingObserver eager = test::train_recording(options);
  options.out = out("graph");
  options.cuda_graph = true;
  const RecordingObserver graph = test::train_recording(options);
  EXPECT_THAT(graph.messages, testing::ElementsAre(testing::HasSubstr("of 64 images, so a batch of 48")));
  test::expect_equal_losses(graph.steps, eager.steps);
}

TEST_F(GpuTest, SaysWhatCannotBeRecordedAndGoesOn) {
  const c10::StreamGuard guard(make_stream(kGpu, StreamPriority::kNormal));
  const at::Tensor value = at::ones({1}, at::TensorOptions(kGpu));
  EXPECT_EQ(value.add(1).item<float>(), 2);
  EXPECT_THROW(record_graph([&] { value.add(1).item<float>(); }), Error);
  EXPECT_EQ(value.add(1).item<float>(), 2);
  const auto graph = record_graph([&] { value.add_(1); });
  EXPECT_EQ(value.item<float>(), 1);
  graph->replay();
  graph->replay();
  EXPECT_EQ(value.item<float>(), 3);
}

TEST_F(GpuTrainingTest, GivesTheSameLossesWithMarksForAProfiler) {
  RecordingObserver plain;
  train(gpu_options(out("plain")), plain);
  for (const bool graph : {false, true}) {
    TrainOptions options = gpu_options(out("marked"));
    options.profile = true;
    options.cuda_graph = graph;
    RecordingObserver marked;
    train(options, marked);
    test::expect_equal_losses(marked.steps, plain.steps);
  }
}

TEST_F(GpuTrainingTest, ReportsWhatTheGpuDid) {
  TrainOptions options = gpu_options(out("run"));
  options.decode = Decoder::kCuda;
  const RecordingObserver seen = test::train_recording(options);
  ASSERT_EQ(seen.epochs.size(), 2U);
  const EpochReport& report = seen.epochs[1];
  EXPECT_EQ(report.decode, "cuda");
  EXPECT_GT(*report.gpu_mem_bytes, 11'000'000 * 4);  // at least the weights
  EXPECT_GT(*report.decode_s, 0);
  EXPECT_GT(*report.h2d_s, 0);
  EXPECT_NEAR(*report.compute_s + *report.data_wait_s, report.wall_s, 0.1 * report.wall_s + 0.02);
  EXPECT_NEAR(*report.compute_s + *report.data_wait_s + *report.other_s, report.wall_s, 1e-9);
}

// The device's clock, fitted to the host's: nothing begins before the host queued it.
TEST_F(GpuTrainingTest, TracesStreamsOnTheHostsClock) {
  class Observer : public RecordingObserver {
   public:
    void on_trace(const Trace& trace) override {
      spans = trace.spans();
      tracks = trace.tracks();
    }
    std::vector<TraceSpan> spans;
    std::vector<std::string> tracks;
  };
  constexpr double kOff = 0.5e-3;  // seconds that the clocks may be apart
  for (const Mode mode : {Mode::kSerial, Mode::kPinned, Mode::kOverlapped}) {
    TrainOptions options = gpu_options(out("run"));
    options.decode = Decoder::kCuda;
    options.mode = mode;
    options.trace = "auto";
    options.trace_steps = 4;
    Observer seen;
    train(options, seen);
    std::map<std::pair<TraceWork, int64_t>, TraceSpan> first;
    for (const TraceSpan& span : seen.spans) {
      EXPECT_LE(span.begin_s, span.end_s);
      first.try_emplace({span.work, span.batch}, span);
    }
    const bool own_streams = mode == Mode::kOverlapped;
    for (int64_t batch = 0; batch < 4; ++batch) {
      const auto span = [&](TraceWork work) { return first.at({work, batch}); };
      const auto track = [&](TraceWork work) {
        return seen.tracks.at(static_cast<size_t>(span(work).track));
      };
      EXPECT_EQ(track(TraceWork::kDeviceDecode), own_streams ? "decode stream" : "compute stream: decode");
      EXPECT_EQ(track(TraceWork::kCopy), own_streams ? "copy stream" : "compute stream: input");
      EXPECT_EQ(track(TraceWork::kStep), "compute stream");
      EXPECT_GE(span(TraceWork::kDeviceDecode).begin_s, span(TraceWork::kStage).begin_s - kOff);
      EXPECT_GE(span(TraceWork::kCopy).begin_s, span(TraceWork::kStage).begin_s - kOff);
      EXPECT_GE(span(TraceWork::kFinish).begin_s, span(TraceWork::kCopy).end_s - 1e-6);
      EXPECT_GE(span(TraceWork::kStep).begin_s, span(TraceWork::kQueueStep).begin_s - kOff);
      EXPECT_GE(span(TraceWork::kStep).begin_s, span(TraceWork::kFinish).end_s - 1e-5);
      if (mode != Mode::kSerial) continue;  // the host waits for each step
      EXPECT_LE(span(TraceWork::kStep).end_s, span(TraceWork::kWaitForDevice).end_s + kOff);
    }
  }
}

TrainOptions bench_options() {
  TrainOptions options = test::small_options("unused");
  options.data.clear();
  options.synthetic = true;
  options.device = "cuda";
  options.image_size = 128;
  options.batch_size = 64;
  options.channels_last = true;
  options.amp = Amp::kFp16;
  return options;
}

// The trace's clock and CUDA's events measure the same window.
void expect_whole(const ComputeRate::Traced& traced) {
  double kinds_s = 0;
  for (const KernelSummary::Kind& kind : traced.kernels.kinds) kinds_s += kind.seconds;
  EXPECT_NEAR(kinds_s + traced.kernels.idle_s, traced.step_s, 0.02 * traced.step_s);
}

TEST_F(GpuTest, BenchTellsWhereTheStepsTimeGoes) {
  const ComputeRate rate = measure_compute(resolve(bench_options()), {.steps = 10, .windows = 3});
  ASSERT_EQ(rate.step_s.size(), 3U);
  ASSERT_TRUE(rate.traced) << rate.why_not_traced;
  expect_whole(*rate.traced);
  const KernelSummary& kernels = rate.traced->kernels;
  // A ResNet-18 has 20 convolutions, with as many gradients of weights and one less of inputs.
  EXPECT_GE(kernels.of(KernelKind::kConvolution).launches, 59);
  EXPECT_GE(kernels.of(KernelKind::kNorm).launches, 40);
  EXPECT_GE(kernels.of(KernelKind::kElementwise).launches, 1);
  EXPECT_GT(kernels.of(KernelKind::kPooling).launches, 0);  // average; the other is part of a norm's layer
  EXPECT_GE(kernels.of(KernelKind::kMatrixProduct).launches, 3);
  EXPECT_GE(kernels.of(KernelKind::kOptimizer).launches, 2);
  EXPECT_LE(kernels.of(KernelKind::kOther).seconds, 0.1 * kernels.span_s);
  EXPECT_GE(kernels.longest.size(), 20U);
  ASSERT_TRUE(rate.parts);
  const double parts_s = rate.parts->forward_s + rate.parts->backward_s + rate.parts->optimizer_s;
  EXPECT_NEAR(parts_s, rate.median_step_s(), 0.3 * rate.median_step_s());
  EXPECT_GT(*rate.copy_bytes_per_s, 1e11);
  EXPECT_GT(*rate.peak_bytes, 11'000'000 * 4);
}

TEST_F(GpuTest, BenchTellsWhatAGraphsKernelsTake) {
  TrainOptions options = bench_options();
  const ComputeRate eager = measure_compute(resolve(options), {.steps = 10, .windows = 3});
  options.cuda_graph = true;
  const ComputeRate rate = measure_compute(resolve(options), {.steps = 10, .windows = 3});
  EXPECT_TRUE(rate.cuda_graph) << rate.why_no_graph;
  EXPECT_FALSE(rate.parts);
  ASSERT_TRUE(rate.traced) << rate.why_not_traced;
  ASSERT_TRUE(eager.traced) << eager.why_not_traced;
  expect_whole(*rate.traced);
  // The same kernels, and the copies into and out of the graph's memory.
  EXPECT_EQ(rate.traced->kernels.of(KernelKind::kConvolution).launches,
            eager.traced->kernels.of(KernelKind::kConvolution).launches);
  EXPECT_GT(rate.traced->kernels.launches(), eager.traced->kernels.launches());
  EXPECT_GT(*rate.peak_bytes, *eager.peak_bytes / 2);
}

TEST_F(GpuTest, BenchLeavesKernelsToAProfiler) {
  TrainOptions options = bench_options();
  options.profile = true;
  const ComputeRate rate = measure_compute(resolve(options), {.steps = 2, .windows = 1});
  EXPECT_FALSE(rate.traced);
  EXPECT_THAT(rate.why_not_traced, testing::HasSubstr("--profile"));
  EXPECT_GT(rate.images_per_s(), 0);
}

}  // namespace
}  // namespace slipstream
