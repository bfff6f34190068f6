#!/usr/bin/env bash
# Builds OpenCV's core, imgproc, imgcodecs and cudawarping as static libraries with CUDA, once per user and
# version: about 20 minutes on 2 cores. Called by setup.sh. The sources come from the source distribution of
# opencv-contrib-python, which carries both of OpenCV's source trees.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/versions.sh
[ -e "$opencv_cuda/lib/cmake/opencv4/OpenCVConfig.cmake" ] && exit 0

say() { printf '\033[1m-- %s\033[0m\n' "$*"; }
build=$cache/build-opencv
rm -rf "$build"
mkdir -p "$build"

say "fetching the sources of OpenCV $opencv_version"
python3 -m venv "$build/venv"
"$build/venv/bin/pip" install --quiet --disable-pip-version-check scikit-build 'setuptools<70' wheel numpy pip
"$build/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --no-binary opencv-contrib-python --dest "$build" "opencv-contrib-python==$opencv_version"
mkdir "$build/source"
tar -xzf "$build"/opencv*contrib*python-*.tar.gz -C "$build/source" --strip-components=1
source_dir=$build/source

say "building OpenCV $opencv_version with CUDA $cuda_version for $cuda_architecture (about 20 minutes on 2 cores)"
# libjpeg comes from the distribution, as in slipstream itself; libpng, libwebp and zlib from OpenCV's tree,
# because other distributions name those libraries differently and an executable should travel.
"$venv/bin/cmake" -S "$source_dir/opencv" -B "$build/out" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$opencv_cuda.partial" -DBUILD_SHARED_LIBS=OFF \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_STANDARD=17 \
  -DOPENCV_EXTRA_MODULES_PATH="$source_dir/opencv_contrib/modules" \
  -DBUILD_LIST=core,imgproc,imgcodecs,cudev,cudawarping \
  -DWITH_CUDA=ON -DCMAKE_CUDA_COMPILER="$cuda_root/bin/nvcc" -DCUDA_TOOLKIT_ROOT_DIR="$cuda_root" \
  -DCUDA_ARCH_BIN="$cuda_architecture" -DCUDA_ARCH_PTX= \
  -DWITH_CUFFT=OFF -DWITH_CUBLAS=OFF -DWITH_CUDNN=OFF -DWITH_NVCUVID=OFF -DWITH_NVCUVENC=OFF \
  -DWITH_JPEG=ON -DBUILD_JPEG=OFF -DJPEG_LIBRARY="$(g++ -print-file-name=libjpeg.a)" \
  -DWITH_PNG=ON -DBUILD_PNG=ON -DBUILD_ZLIB=ON -DWITH_WEBP=ON -DBUILD_WEBP=ON \
  -DWITH_TIFF=OFF -DWITH_OPENJPEG=OFF -DWITH_JASPER=OFF -DWITH_OPENEXR=OFF -DWITH_AVIF=OFF -DWITH_JPEGXL=OFF \
  -DWITH_IMGCODEC_HDR=OFF -DWITH_IMGCODEC_SUNRASTER=OFF -DWITH_IMGCODEC_PXM=OFF -DWITH_IMGCODEC_PFM=OFF \
  -DWITH_IPP=OFF -DWITH_ITT=OFF -DWITH_OPENCL=OFF -DWITH_EIGEN=OFF -DWITH_LAPACK=OFF -DWITH_PROTOBUF=OFF \
  -DWITH_ADE=OFF -DWITH_QUIRC=OFF -DWITH_FLATBUFFERS=OFF -DWITH_GTK=OFF -DWITH_FFMPEG=OFF \
  -DWITH_GSTREAMER=OFF -DWITH_V4L=OFF -DWITH_VA=OFF -DWITH_KLEIDICV=OFF \
  -DCPU_BASELINE=SSE4_2 -DCPU_DISPATCH=AVX2 \
  -DBUILD_TESTS=OFF -DBUILD_PERF_TESTS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_opencv_apps=OFF \
  -DBUILD_JAVA=OFF -DBUILD_opencv_python3=OFF -DOPENCV_GENERATE_PKGCONFIG=OFF >"$build/configure.log" 2>&1 \
  || { tail -40 "$build/configure.log" >&2; exit 1; }
"$venv/bin/cmake" --build "$build/out" --target install >"$build/build.log" 2>&1 \
  || { grep -B2 -A12 -m3 -E 'error|FAILED' "$build/build.log" >&2; exit 1; }

mv "$opencv_cuda.partial" "$opencv_cuda"   # a folder that exists is a folder that is whole
rm -rf "$build"
