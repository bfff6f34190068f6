#pragma once

namespace slipstream {

/// Marks a stretch of the calling thread's work by name (NVTX), for a profiler that is attached. Does nothing
/// unless `on`.
class ProfileRange {
 public:
  ProfileRange(bool on, const char* name);
  ~ProfileRange();
  ProfileRange(const ProfileRange&) = delete;
  ProfileRange& operator=(const ProfileRange&) = delete;

 private:
  [[maybe_unused]] bool on_;  // by the variant without marks
};

/// Whether this build can mark.
bool has_profiler_marks();

/// Between these, profilers record that were told to wait for it: `nsys profile -c cudaProfilerApi`,
/// `ncu --profile-from-start off`. Without one they do nothing.
void start_profiler();
void stop_profiler();

}  // namespace slipstream
