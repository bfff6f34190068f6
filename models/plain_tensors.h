#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace slipstream {

/// For a scope of an autograd function: operators see plain tensors. No graph is built, no view is tracked,
/// autocast changes no type.
struct PlainTensors {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  c10::impl::ExcludeDispatchKeyGuard below_autocast{c10::autocast_dispatch_keyset};
};

}  // namespace slipstream
