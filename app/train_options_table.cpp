#include "app/train_options_table.h"

#include <limits>
#include <utility>

#include "models/resnet.h"

namespace slipstream {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

void add_data(OptionTable& table, TrainOptions& options) {
  table.group("Data");
  table.text("data", options.data, "DIR",
             "Folder that holds train/ and, unless there is nothing to validate on, val/: a folder a class.");
  table.text("train_dir", options.train_dir, "DIR",
             "Folder of training images, instead of train/ in --data.");
  table.text("val_dir", options.val_dir, "DIR", "Folder of validation images, instead of val/ in --data.");
  table.choice<BadFiles>("bad_files", options.bad_files,
                         {{"stop", BadFiles::kStop}, {"skip", BadFiles::kSkip}},
                         "What a file that can't be read or decoded does: end the run, or be left out (a "
                         "training lists it in bad_files.txt).");
  table.choice<Exif>(
      "exif", options.exif, {{"ignore", Exif::kIgnore}, {"apply", Exif::kApply}},
      "What an image's EXIF orientation does: nothing, as with torchvision's ImageFolder, or turn "
      "it; the CPU decodes those that are turned.");
}

void add_model(OptionTable& table, TrainOptions& options) {
  std::vector<std::pair<std::string, std::string>> archs;
  for (const std::string& name : resnet_archs()) archs.emplace_back(name, name);
  table.group("Model");
  table.choice<std::string>("arch", options.arch, archs, "The network.");
  table.text(
      "weights", options.weights, "FILE",
      "State dictionary to start from, as slipstream or PyTorch saves it; without it weights are random.");
  table.integer("image_size", options.image_size, 16, 2048, "Side of the network's input in pixels.");
  table.integer("val_resize", options.val_resize, 0, 8192,
                "Short side of a validation image before its centre is cropped, in pixels; 0: 256/224 of "
                "--image-size.");
  table.choice<Interpolation>("val_interpolation", options.val_interpolation,
                              {{"bilinear", Interpolation::kBilinear}, {"bicubic", Interpolation::kBicubic}},
                              "Filter of validation's resize, antialiased as Pillow's and torchvision's.");
}

void add_training(OptionTable& table, TrainOptions& options) {
  table.group("Training");
  table.integer("epochs", options.epochs, 1, 1'000'000, "Passes over the training images.");
  table.integer("batch_size", options.batch_size, 1, 65536, "Images in a batch.");
  table.integer(
      "grad_accum_steps", options.grad_accum_steps, 1, 65536,
      "Batches whose gradients are averaged, in float32, before the optimizer steps: trains as with "
      "that many times --batch-size, but for batch norm, in the memory of one.");
  table.real("lr", options.lr, 0, 1000, "Learning rate at its peak, after the warm-up.");
  table.choice<LrSchedule>(
      "lr_schedule", options.lr_schedule,
      {{"cosine", LrSchedule::kCosine}, {"step", LrSchedule::kStep}, {"constant", LrSchedule::kConstant}},
      "How the learning rate falls after the warm-up.");
  table.real("warmup_epochs", options.warmup_epochs, 0, 1'000'000,
             "Epochs, or a part of one, in which the learning rate rises to --lr.");
  table.real("momentum", options.momentum, 0, 1, "Momentum of stochastic gradient descent.");
  table.real("weight_decay", options.weight_decay, 0, 1000, "Weight decay of stochastic gradient descent.");
  table.real("label_smoothing", options.label_smoothing, 0, 1,
             "Share of each training target that is spread evenly over all classes.");
  table.integer(
      "seed", options.seed, 0, kNoLimit,
      "Number that the initial weights, the order of images and their crops and flips derive from.");
  table.integer("limit_batches", options.limit_batches, 0, kNoLimit,
                "Steps after which an epoch, and likewise a validation, is cut short; 0: never.");
}

void add_pipeline(OptionTable& table, TrainOptions& options) {
  table.group("Pipeline");
  table.choice<Mode>(
      "mode", options.mode,
      {{"serial", Mode::kSerial}, {"pinned", Mode::kPinned}, {"overlapped", Mode::kOverlapped}},
      "How input and compute share time: one after the other, with threads and pinned memory, or "
      "overlapped.");
  table.choice<Decoder>("decode", options.decode,
                        {{"auto", Decoder::kAuto}, {"cpu", Decoder::kCpu}, {"cuda", Decoder::kCuda}},
                        "Who decodes images; auto: the GPU that trains, else the CPU.");
  table.choice<CpuDecode>(
      "cpu_decode", options.cpu_decode, {{"exact", CpuDecode::kExact}, {"fast", CpuDecode::kFast}},
      "How the CPU decodes JPEGs: exact makes Pillow's pixels; fast decodes a half, a "
      "quarter or an eighth of their size where the crop is that much larger than what it "
      "is resized to, and doesn't interpolate chroma: faster, most for large images, but "
      "other pixels (docs/accuracy.md).");
  table.choice<GpuDecode>(
      "gpu_decode", options.gpu_decode, {{"fast", GpuDecode::kFast}, {"exact", GpuDecode::kExact}},
      "Which JPEGs the GPU decodes: fast, all that it can, with chroma not interpolated; exact, those of "
      "which it makes Pillow's pixels, which have chroma of full size; the CPU decodes the others "
      "(docs/accuracy.md).");
  table.choice<Resizer>("resize", options.resize, {{"fused", Resizer::kFused}, {"opencv", Resizer::kOpencv}},
                        "Whose sampling: fused is Pillow's and torchvision's antialiased bilinear to the "
                        "bit, opencv is OpenCV's.");
  table.integer("workers", options.workers, -1, 1024,
                "Threads that read and decode; -1: one a core, or half as many where the CPU trains.");
  table.integer("prefetch", options.prefetch, 1, 64, "Batches that may be prepared ahead of the step.");
  table.integer(
      "cpu_pixels", options.cpu_pixels, 0, kNoLimit,
      "Images of more pixels are decoded by the CPU while the GPU decodes the others: for cores that "
      "have nothing else to do; 0: none.");
  table.toggle("synthetic", options.synthetic,
               "Train on random batches that stay on the device, to see the rate without input.");
}

void add_compute(OptionTable& table, TrainOptions& options) {
  table.group("Compute");
  table.text("device", options.device, "DEVICE",
             "Where to work: cpu, cuda, cuda:N, or auto, which is cuda if this build and machine can.");
  table.choice<Amp>(
      "amp", options.amp, {{"off", Amp::kOff}, {"fp16", Amp::kFp16}, {"bf16", Amp::kBf16}},
      "Type of images and of matrix work under automatic mixed precision; weights stay float32.");
  table.toggle("channels_last", options.channels_last, "Keep images and weights in NHWC order.");
  table.choice<bool>("fused_norm", options.fused_norm, {{"on", true}, {"off", false}},
                     "Compute batch norm, addition, ReLU and max-pooling in one layer (on a GPU: with "
                     "--channels-last), or by LibTorch's operators one by one.");
  table.toggle("cudnn_benchmark", options.cudnn_benchmark,
               "Let cuDNN time its algorithms in the first steps and keep the fastest.");
  table.toggle("tf32", options.tf32, "Let float32 matrix work use TF32.");
  table.toggle("deterministic", options.deterministic,
               "Use deterministic kernels only, so that equal runs give equal losses bit for bit.");
  table.toggle("cuda_graph", options.cuda_graph,
               "Record the step once and queue it as one CUDA graph from then on: one launch instead of "
               "hundreds, and the same losses.");
}

void add_output(OptionTable& table, TrainOptions& options) {
  table.group("Output");
  table.text("out", options.out, "DIR", "Folder for checkpoints, reports and the resolved configuration.");
  table.text("resume", options.resume, "[FILE]",
             "Checkpoint to continue from; alone, or auto: checkpoint.pt in --out if it is there.", "auto");
  table.real(
      "alone_seconds", options.alone_seconds, -1, 1000,
      "Seconds, after a third as many to warm up, for which steps are timed on a random batch before the "
      "first epoch, while no input is prepared: every epoch says which share of that rate it reached; "
      "-1: 3 on a GPU, 0 on the CPU or with --synthetic or --no-reports. Less than a second catches a GPU "
      "before its power limit does.");
  table.integer("log_interval", options.log_interval, 1, 1'000'000,
                "Steps between fetches of loss and accuracy from the device.");
  table.toggle(
      "profile", options.profile,
      "Mark what the host does (NVTX), and let a profiler that waits for it record steps 20 to 30 of "
      "the first epoch, or the last 11 of a shorter one: nsys profile -c cudaProfilerApi, ncu "
      "--profile-from-start off.");
  table.text("trace", options.trace, "[FILE]",
             "Record what each thread and stream does in the first steps, and when, as trace events for "
             "ui.perfetto.dev or chrome://tracing; alone, or auto: trace.json in --out.",
             "auto");
  table.integer("trace_steps", options.trace_steps, 1, 100'000,
                "Steps that --trace records, of the first epoch.");
  table.toggle("reports", options.reports, "Measure stage times and the GPU's use, and write steps.jsonl.");
}

}  // namespace

OptionTable train_options_table(TrainOptions& options) {
  OptionTable table;
  add_data(table, options);
  add_model(table, options);
  add_training(table, options);
  add_pipeline(table, options);
  add_compute(table, options);
  add_output(table, options);
  return table;
}

std::vector<std::string> input_options(std::vector<std::string> more) {
  more.insert(more.end(), {"bad_files", "exif", "image_size", "batch_size", "cpu_decode", "gpu_decode",
                           "resize", "workers", "prefetch", "cpu_pixels", "device", "amp", "channels_last"});
  return more;
}

std::vector<std::string> network_options(std::vector<std::string> more) {
  more.insert(more.end(),
              {"arch", "weights", "limit_batches", "fused_norm", "cudnn_benchmark", "tf32", "deterministic"});
  return input_options(std::move(more));
}

}  // namespace slipstream
