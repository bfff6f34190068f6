#pragma once

#include <nvjpeg.h>

#include <memory>
#include <source_location>
#include <string>

#include "data/error.h"

namespace slipstream {

inline const char* nvjpeg_status_text(nvjpegStatus_t status) {
  switch (status) {
    case NVJPEG_STATUS_SUCCESS:
      return "success";
    case NVJPEG_STATUS_NOT_INITIALIZED:
      return "not initialised";
    case NVJPEG_STATUS_INVALID_PARAMETER:
      return "invalid parameter";
    case NVJPEG_STATUS_BAD_JPEG:
      return "damaged JPEG";
    case NVJPEG_STATUS_JPEG_NOT_SUPPORTED:
      return "this kind of JPEG is not supported";
    case NVJPEG_STATUS_ALLOCATOR_FAILURE:
      return "out of memory";
    case NVJPEG_STATUS_EXECUTION_FAILED:
      return "execution failed on the GPU";
    case NVJPEG_STATUS_ARCH_MISMATCH:
      return "the GPU has no such decoder";
    case NVJPEG_STATUS_INTERNAL_ERROR:
      return "internal error";
    case NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED:
      return "not supported by this implementation";
    default:
      return "unknown status";
  }
}

inline void check(nvjpegStatus_t status, std::source_location where = std::source_location::current()) {
  if (status == NVJPEG_STATUS_SUCCESS) return;
  throw Error(std::string("nvJPEG: ") + nvjpeg_status_text(status) + " (" + where.function_name() + ")");
}

/// Move-only owners of nvJPEG's objects; a throw midway through a constructor releases what was built.
struct NvjpegDeleter {
  void operator()(nvjpegHandle* handle) const { nvjpegDestroy(handle); }
  void operator()(nvjpegJpegState* state) const { nvjpegJpegStateDestroy(state); }
  void operator()(nvjpegJpegStream* stream) const { nvjpegJpegStreamDestroy(stream); }
  void operator()(nvjpegDecodeParams* params) const { nvjpegDecodeParamsDestroy(params); }
};
using NvjpegHandle = std::unique_ptr<nvjpegHandle, NvjpegDeleter>;
using NvjpegState = std::unique_ptr<nvjpegJpegState, NvjpegDeleter>;
using NvjpegStream = std::unique_ptr<nvjpegJpegStream, NvjpegDeleter>;
using NvjpegParams = std::unique_ptr<nvjpegDecodeParams, NvjpegDeleter>;

inline NvjpegState make_nvjpeg_state(const NvjpegHandle& handle) {
  nvjpegJpegState_t state = nullptr;
  check(nvjpegJpegStateCreate(handle.get(), &state));
  return NvjpegState(state);
}

inline NvjpegStream make_nvjpeg_stream(const NvjpegHandle& handle) {
  nvjpegJpegStream_t stream = nullptr;
  check(nvjpegJpegStreamCreate(handle.get(), &stream));
  return NvjpegStream(stream);
}

inline NvjpegParams make_nvjpeg_params(const NvjpegHandle& handle, nvjpegOutputFormat_t format) {
  nvjpegDecodeParams_t params = nullptr;
  check(nvjpegDecodeParamsCreate(handle.get(), &params));
  NvjpegParams owned(params);
  check(nvjpegDecodeParamsSetOutputFormat(params, format));
  return owned;
}

}  // namespace slipstream
