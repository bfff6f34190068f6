# Where the libraries are. scripts/versions.sh names versions and folders; scripts/setup.sh fills them.

execute_process(
  COMMAND bash -c "source scripts/versions.sh && printf '%s;%s;%s;%s;%s;%s' \"$wheels\" \"$cuda_root\" \"$opencv_cuda\" \"$cuda_architecture\" \"$venv\" \"$browser_venv\""
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE locations COMMAND_ERROR_IS_FATAL ANY)
list(GET locations 0 wheels)
list(GET locations 1 cuda_root)
list(GET locations 2 opencv_cuda)
list(GET locations 3 cuda_architecture)
list(GET locations 4 venv)
list(GET locations 5 browser_venv)
set(SLIPSTREAM_PYTHON ${venv}/bin/python3)
set(SLIPSTREAM_BROWSER_PYTHON ${browser_venv}/bin/python3)  # tests look whether it is there

if(NOT EXISTS ${wheels}/torch/lib/libtorch_cpu.so)
  message(FATAL_ERROR "LibTorch is not installed: run scripts/setup.sh first.")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/versions.sh)

find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

# LibTorch's include folder carries headers of another version of fmt, and headers of one version don't link
# with the library of another: so the distribution's come first, from a folder of their own. (Header-only,
# fmt would cost every translation unit 6 s.)
find_path(fmt_headers fmt/format.h REQUIRED)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
file(CREATE_LINK ${fmt_headers}/fmt ${CMAKE_BINARY_DIR}/include/fmt SYMBOLIC)
find_library(fmt_library fmt REQUIRED)
add_library(slipstream_fmt INTERFACE)
target_include_directories(slipstream_fmt SYSTEM BEFORE INTERFACE ${CMAKE_BINARY_DIR}/include)
target_link_libraries(slipstream_fmt INTERFACE ${fmt_library})

# LibTorch's own CMake package of the CUDA wheel asks for a CUDA toolkit; a CPU build needs two libraries.
add_library(slipstream_torch INTERFACE)
target_include_directories(slipstream_torch SYSTEM INTERFACE
  ${wheels}/torch/include ${wheels}/torch/include/torch/csrc/api/include)
target_link_directories(slipstream_torch INTERFACE ${wheels}/torch/lib)
target_link_options(slipstream_torch INTERFACE
  -Wl,--allow-shlib-undefined -Wl,-rpath,${wheels}/torch/lib)
target_link_libraries(slipstream_torch INTERFACE torch_cpu c10 Threads::Threads)

if(SLIPSTREAM_CUDA)
  if(NOT EXISTS ${cuda_root}/bin/nvcc OR NOT EXISTS ${opencv_cuda})
    message(FATAL_ERROR "CUDA or OpenCV's CUDA build is not installed: run scripts/setup.sh --cuda first.")
  endif()
  set(CMAKE_CUDA_COMPILER ${cuda_root}/bin/nvcc)
  string(REPLACE "." "" architecture ${cuda_architecture})
  set(CMAKE_CUDA_ARCHITECTURES ${architecture})
  enable_language(CUDA)

  target_include_directories(slipstream_torch SYSTEM INTERFACE ${cuda_root}/include)
  target_link_directories(slipstream_torch INTERFACE ${cuda_root}/lib)
  target_link_options(slipstream_torch INTERFACE -Wl,-rpath,${cuda_root}/lib)
  # torch_cuda registers CUDA's kernels when it is loaded; nothing refers to it, so keep it by force.
  target_link_libraries(slipstream_torch INTERFACE
    -Wl,--push-state,--no-as-needed torch_cuda -Wl,--pop-state c10_cuda cudart)

  add_library(slipstream_nvjpeg INTERFACE)
  target_link_libraries(slipstream_nvjpeg INTERFACE nvjpeg)

  # Of cuDNN the wheel holds libcudnn.so.9 alone, without the name that a linker looks for.
  add_library(slipstream_cudnn INTERFACE)
  target_include_directories(slipstream_cudnn SYSTEM INTERFACE ${wheels}/include ${wheels}/nvidia/cudnn/include)
  target_compile_definitions(slipstream_cudnn INTERFACE CUDNN_FRONTEND_SKIP_JSON_LIB)
  target_link_libraries(slipstream_cudnn INTERFACE ${wheels}/nvidia/cudnn/lib/libcudnn.so.9)
  target_link_options(slipstream_cudnn INTERFACE -Wl,-rpath,${wheels}/nvidia/cudnn/lib)

  # Static, with static libjpeg: the executable travels to distributions that name these libraries otherwise.
  set(OpenCV_DIR ${opencv_cuda}/lib/cmake/opencv4)
  set(CUDA_TOOLKIT_ROOT_DIR ${cuda_root})
  set(CUDAToolkit_ROOT ${cuda_root})
  cmake_policy(SET CMP0146 OLD)  # OpenCV's package still asks for FindCUDA
  find_package(OpenCV 4.13 REQUIRED COMPONENTS core imgproc imgcodecs cudawarping)
  find_library(JPEG_LIBRARY libjpeg.a)
else()
  # The distribution's package with OpenCVConfig.cmake brings all of OpenCV; three modules are enough.
  find_path(OpenCV_INCLUDE_DIRS opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
  foreach(module core imgproc imgcodecs)
    find_library(OpenCV_${module}_LIBRARY opencv_${module} REQUIRED)
    list(APPEND OpenCV_LIBS ${OpenCV_${module}_LIBRARY})
  endforeach()
endif()
find_package(JPEG REQUIRED)

add_library(slipstream_opencv INTERFACE)
target_include_directories(slipstream_opencv SYSTEM INTERFACE ${OpenCV_INCLUDE_DIRS})
target_link_libraries(slipstream_opencv INTERFACE ${OpenCV_LIBS} JPEG::JPEG)
