// What the sanitizers are to leave out: each asks its executable by a function of this name.

extern "C" {

// LibTorch's zip reader loses its index when a file is damaged.
const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:mz_zip_reader_init\n";
}

// Debian's OpenCV reads some formats by GDAL, which takes two of its locks in either order.
const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "deadlock:libgdal.so\n";
}

}  // extern "C"
