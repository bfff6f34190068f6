# How our own targets are compiled: one place for warnings and sanitizers.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
add_link_options(-fuse-ld=mold)

# No precompiled header: one of <torch/torch.h> is 700 MB and costs each translation unit 10 s, where
# <ATen/core/Tensor.h> and the operators used cost 4 s. So includes are narrow, and torch/nn is not used.
function(slipstream_compile_options target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC slipstream_fmt slipstream_torch)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
      -Wimplicit-fallthrough -Wno-missing-field-initializers -Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror --Werror=all-warnings>)
  get_target_property(type ${target} TYPE)
  if(SLIPSTREAM_SANITIZE AND type STREQUAL EXECUTABLE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/sanitizer_suppressions.cpp)
  endif()
endfunction()

# Sanitizers must agree between all objects of a program, so they are set for the directory.
if(SLIPSTREAM_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SLIPSTREAM_SANITIZE}> $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  # With them gcc 12 takes std::function within std::regex for uninitialised (GCC's bug 105562).
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>>)
  add_link_options(-fsanitize=${SLIPSTREAM_SANITIZE})
endif()
