#include "pipeline/evaluate.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "pipeline/run_ahead.h"
#include "pipeline/train_step.h"

namespace slipstream {

Evaluation evaluate(ResNet& model, BatchSource& source, const TrainSetup& setup, c10::Stream compute,
                    const std::function<void(const Batch&)>& each_batch) {
  const at::NoGradGuard no_grad;
  // Sums of loss, of right at first guess, of right among five, and of labelled images.
  at::Tensor sums = at::zeros({4}, at::TensorOptions(at::kDouble).device(setup.device));
  RunAhead run_ahead(compute);
  while (const auto batch = source.next()) {
    each_batch(*batch);
    // The last batch's odd size isn't worth a benchmark of every convolution.
    const bool full = batch->count == setup.options.batch_size;
    at::globalContext().setBenchmarkCuDNN(setup.options.cudnn_benchmark && full);
    at::Tensor logits;
    {
      const AutocastScope autocast(setup.device, setup.compute_type());
      logits = model.forward(batch->images, ResNet::Phase::kEvaluation);
    }
    logits = logits.to(at::kFloat);
    const at::Tensor loss =
        at::cross_entropy_loss(logits, batch->labels, {}, at::Reduction::Sum, kIgnoredLabel);
    const int64_t guesses = std::min<int64_t>(5, logits.size(1));
    const at::Tensor right = std::get<1>(logits.topk(guesses, 1)).eq(batch->labels.unsqueeze(1));
    sums += at::stack({loss.to(at::kDouble), right.select(1, 0).sum().to(at::kDouble),
                       right.sum().to(at::kDouble), batch->labels.ne(kIgnoredLabel).sum().to(at::kDouble)});
    source.release(*batch);
    run_ahead.limit();
    if (schedule_of(setup.options.mode).wait_each) sums.cpu();
  }

  at::globalContext().setBenchmarkCuDNN(setup.options.cudnn_benchmark);

  const at::Tensor host = sums.cpu();
  const auto sum = host.accessor<double, 1>();
  return {static_cast<int64_t>(sum[3]), sum[0] / sum[3], sum[1] / sum[3], sum[2] / sum[3]};
}

}  // namespace slipstream
