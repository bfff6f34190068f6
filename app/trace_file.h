#pragma once

#include <string>
#include <vector>

#include "pipeline/trace.h"

namespace slipstream {

/// Traces as one document of Chrome's trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing
/// open: a process a trace, a thread a track, a complete event a span with its batch, slot and file, and for
/// each batch a flow from its first sample's read through staging and copy to the step that consumes it.
/// Batches count from 1. Each trace begins at time 0.
std::string trace_text(const std::vector<const Trace*>& traces);

/// Writes the document, whole or not at all. Throws Error naming the file.
void write_trace(const std::string& path, const std::vector<const Trace*>& traces);

}  // namespace slipstream
