#include "pipeline/train_step.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>

#include "data/error.h"
#include "models/fused_sgd.h"
#include "models/stem.h"
#include "models/weights.h"
#include "pipeline/host_clock.h"
#include "pipeline/profiler.h"
#include "pipeline/run_ahead.h"

namespace slipstream {

AutocastScope::AutocastScope(c10::Device device, c10::ScalarType type)
    : device_(device.type()), enabled_(type != c10::kFloat) {
  if (!enabled_) return;
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, type);
}

AutocastScope::~AutocastScope() {
  if (!enabled_) return;
  at::autocast::set_autocast_enabled(device_, false);
  at::autocast::clear_cache();  // the casts of weights that the optimizer is about to change
}

TrainStep::TrainStep(ResNet& model, const TrainSetup& setup)
    : model_(model),
      options_(setup.options),
      device_(setup.device),
      type_(setup.compute_type()),
      lr_(at::zeros({}, at::TensorOptions(at::kFloat).device(setup.device))),
      loss_scale_(setup.options.amp == Amp::kFp16, setup.device) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, parameter] : model.parameters()) {
    names_.push_back(name);
    parameters_.push_back(parameter);
    momenta_.push_back(at::zeros_like(parameter));  // keeps the parameter's strides
    if (options_.grad_accum_steps > 1) sums_.push_back(at::zeros_like(parameter));
  }
  if (type_ != c10::kFloat) model.keep_casts(type_);
}

at::Tensor TrainStep::run(const Batch& batch, double lr, StepParts* parts) {
  lr_.fill_(lr);
  model_.refresh_casts();
  const bool updates = ++summed_ == options_.grad_accum_steps;
  if (updates) summed_ = 0;
  return is_recorded(batch) ? replay(batch, updates) : compute(batch.images, batch.labels, updates, parts);
}

at::Tensor TrainStep::replay(const Batch& batch, bool updates) {
  const ProfileRange range(options_.profile, "replay");
  form_images(batch.images, recorded_batch_.images);
  recorded_batch_.labels.copy_(batch.labels, /*non_blocking=*/true);
  graph_->replay();
  if (updates && update_graph_) update_graph_->replay();
  return recorded_metrics_.clone();
}

// The step itself, of which nothing but what is on the device may change from time to time.
at::Tensor TrainStep::compute(const at::Tensor& images, const at::Tensor& labels, bool updates,
                              StepParts* parts) {
  CrossEntropy result;
  if (parts != nullptr) parts->begins();
  {
    const ProfileRange range(options_.profile, "forward");
    result = forward(images, labels);
  }
  if (parts != nullptr) parts->forward_ends();
  {
    const ProfileRange range(options_.profile, "backward");
    const at::Tensor share =
        accumulates() ? result.loss.div(static_cast<double>(options_.grad_accum_steps)) : result.loss;
    loss_scale_.scaled(share).backward();
  }
  if (parts != nullptr) parts->backward_ends();

  const ProfileRange range(options_.profile, "optimizer");
  const at::NoGradGuard no_grad;
  at::Tensor metrics = at::stack({result.loss.detach(), result.right, loss_scale_.scale()[0]});
  if (accumulates()) at::_foreach_add_(sums_, in_float32(take_gradients()));
  if (updates) update();
  if (parts != nullptr) parts->optimizer_ends();
  return metrics;
}

// The loss isn't scaled yet.
CrossEntropy TrainStep::forward(const at::Tensor& images, const at::Tensor& labels) {
  const AutocastScope autocast(device_, type_);
  return cross_entropy(model_.forward(images, ResNet::Phase::kTraining), labels, options_.label_smoothing);
}

void TrainStep::update() {
  const std::vector<at::Tensor> gradients = accumulates() ? sums_ : take_gradients();
  if (has_fused_sgd(device_)) {
    update_fused(gradients);
  } else {
    update_by_libtorch(in_float32(gradients));
  }
  loss_scale_.update();
  if (accumulates()) at::_foreach_zero_(sums_);
}

void TrainStep::update_by_libtorch(const std::vector<at::Tensor>& gradients) {
  const at::Tensor overflow = loss_scale_.unscale(gradients);
  at::_fused_sgd_(parameters_, gradients, momenta_, options_.weight_decay, options_.momentum, lr_,
                  /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false,
                  /*grad_scale=*/{}, overflow.defined() ? std::optional(overflow) : std::nullopt);
}

void TrainStep::update_fused(const std::vector<at::Tensor>& gradients) {
  std::vector<SgdTensors> tensors;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    tensors.push_back({parameters_[i], momenta_[i], gradients[i], cast(i)});
  }
  SgdStep step{.momentum = options_.momentum, .weight_decay = options_.weight_decay, .lr = lr_};
  if (loss_scale_.enabled()) {
    step.scale = loss_scale_.scale();
    step.found_inf = loss_scale_.found_inf();
  }
  fused_sgd(tensors, step);
}

// By parameter: its own, or its cast's.
std::vector<at::Tensor> TrainStep::take_gradients() {
  std::vector<at::Tensor> gradients;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor of_cast = cast(i);
    at::Tensor& gradient = (of_cast.defined() ? of_cast : parameters_[i]).mutable_grad();
    gradients.push_back(gradient);
    gradient.reset();
  }
  return gradients;
}

// Those of another type come over in one pass.
std::vector<at::Tensor> TrainStep::in_float32(std::vector<at::Tensor> gradients) const {
  std::vector<at::Tensor> from;
  std::vector<at::Tensor> to;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].scalar_type() == at::kFloat) continue;
    from.push_back(gradients[i]);
    to.push_back(gradients[i] = at::empty_like(parameters_[i]));
  }
  if (!to.empty()) at::_foreach_copy_(to, from);
  return gradients;
}

at::Tensor TrainStep::cast(size_t parameter) const {
  return model_.casts().empty() ? at::Tensor() : model_.casts()[parameter];
}

std::string TrainStep::prepare(at::IntArrayRef image_sizes) {
  if (options_.cuda_graph) return record(image_sizes);
  if (options_.cudnn_benchmark) {
    const Batch batch = empty_batch(image_sizes);
    without_trace([&] { compute(batch.images, batch.labels, /*updates=*/true, nullptr); });
  }
  return {};
}

// Returns why it can't be, or nothing.
std::string TrainStep::record(at::IntArrayRef image_sizes) {
  if (!device_.is_cuda()) {
    return "--cuda-graph: there is no graph to record on the CPU; steps run as without it.";
  }
  recorded_batch_ = empty_batch(image_sizes);
  recorded_batch_.images = form_images(recorded_batch_.images, stem_form(recorded_batch_.images));
  recorded_sizes_ = image_sizes.vec();
  std::string why_not;
  without_trace([&] {
    const auto step = [&] {
      recorded_metrics_ = compute(recorded_batch_.images, recorded_batch_.labels, !accumulates(), nullptr);
    };
    const auto update_alone = [&] {
      const at::NoGradGuard no_grad;
      update();
    };
    for (int i = 0; i < 3; ++i) {  // libraries set themselves up
      step();
      if (accumulates()) update_alone();
    }
    try {
      if (accumulates()) update_graph_ = record_graph(update_alone);
      graph_ = record_graph(step);
    } catch (const Error& error) {
      recorded_batch_ = {};
      recorded_metrics_.reset();
      update_graph_.reset();
      why_not = fmt::format(
          "--cuda-graph: the step can't be recorded, so its kernels are queued one by one: {}", error.what());
    }
  });
  return why_not;
}

double TrainStep::time_alone(SyntheticSource& batches, double seconds) {
  const c10::Stream stream = c10::impl::VirtualGuardImpl(device_.type()).getStream(device_);
  Event begin(device_);
  Event end(device_);
  int64_t steps = 0;
  without_trace([&] {
    RunAhead run_ahead(stream);
    const auto run_for = [&](double wanted_s) {
      const double begin_s = host_seconds();
      int64_t done = 0;
      while (done == 0 || done % options_.grad_accum_steps != 0 || host_seconds() - begin_s < wanted_s) {
        run(batches.batch(), options_.lr / 10);
        run_ahead.limit();
        ++done;
      }
      return done;
    };
    run_for(seconds / 3);
    begin.record(stream);
    steps = run_for(seconds);
    end.record(stream);
    end.wait_on_host();
  });
  return begin.seconds_to(end) / static_cast<double>(steps);
}

int64_t TrainStep::whole_groups(int64_t steps) const {
  const int64_t group = options_.grad_accum_steps;
  return (steps + group - 1) / group * group;
}

bool TrainStep::is_recorded(const Batch& batch) const {
  return graph_ && batch.images.sizes() == recorded_sizes_ &&
         batch.images.dtype() == recorded_batch_.images.dtype();
}

Batch TrainStep::empty_batch(at::IntArrayRef image_sizes) const {
  const auto layout = options_.channels_last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  return {.images = at::zeros(image_sizes, at::TensorOptions(type_).device(device_)).contiguous(layout),
          .labels = at::zeros({image_sizes[0]}, at::TensorOptions(at::kLong).device(device_)),
          .count = image_sizes[0]};
}

// Puts back what `work` makes of the weights, the momenta and the loss scale.
void TrainStep::without_trace(const std::function<void()>& work) {
  const auto copy_of = [](StateDict tensors) {
    for (auto& [name, tensor] : tensors) tensor = tensor.clone();
    return tensors;
  };
  const StateDict weights = copy_of(model_.state_dict());
  const StateDict own = copy_of(state());
  model_.refresh_casts();
  work();
  load_state_dict(model_, weights);
  load_state(own);
  take_gradients();  // those that are left where recording failed
  for (at::Tensor& sum : sums_) sum.zero_();
  summed_ = 0;
}

StateDict TrainStep::state() const {
  StateDict state;
  for (size_t i = 0; i < names_.size(); ++i) state.emplace_back("momentum." + names_[i], momenta_[i]);
  state.emplace_back("loss_scale", loss_scale_.scale());
  state.emplace_back("loss_scale_good_steps", loss_scale_.good_steps());
  return state;
}

void TrainStep::load_state(const StateDict& loaded) {
  const at::NoGradGuard no_grad;
  const StateDict own = state();
  for (const auto& [name, tensor] : own) {
    const auto found = std::ranges::find(loaded, name, &StateDict::value_type::first);
    if (found == loaded.end() || found->second.sizes() != tensor.sizes()) {
      throw Error(fmt::format("'{}' is missing or of another shape", name));
    }
    tensor.copy_(found->second);
  }
}

}  // namespace slipstream
