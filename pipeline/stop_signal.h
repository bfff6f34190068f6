#pragma once

namespace slipstream {

/// Turns SIGINT and SIGTERM into a request to stop, for as long as it lives. A second signal has its usual
/// effect: it ends the program at once.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// The signal that asked to stop; 0 if none did.
  static int requested();
};

}  // namespace slipstream
