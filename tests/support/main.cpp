#include <gtest/gtest.h>

/// LeakSanitizer asks for what it is to leave out: LibTorch's zip reader loses its index when a file is
/// damaged.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
const char* __lsan_default_suppressions() { return "leak:mz_zip_reader_init"; }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
