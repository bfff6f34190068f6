#!/usr/bin/env bash
# Installs what a build needs: distribution packages system-wide, everything else in a per-user cache.
#
#   scripts/setup.sh             the cpu preset
#   scripts/setup.sh --cuda      and the cuda preset: all of CUDA's libraries, OpenCV with CUDA
#   scripts/setup.sh --oracle    and what oracle tests compare with: Python's torch, torchvision and Pillow;
#                                Chromium, Selenium and axe-core, which look at report's page
#
# The cache is $SLIPSTREAM_CACHE, or slipstream/ in $XDG_CACHE_HOME or ~/.cache. Its folders carry the
# versions in their names, so a new version is a new folder and deleting one costs nothing but time.
set -euo pipefail
cd "$(dirname "$0")/.."

want_cuda=0 want_oracle=0
for argument in "$@"; do
  case $argument in
    --cuda) want_cuda=1 ;;
    --oracle) want_oracle=1 ;;
    *) echo "setup.sh: unknown option '$argument'; it takes --cuda and --oracle" >&2; exit 2 ;;
  esac
done

source scripts/versions.sh
mkdir -p "$cache"
exec 9>"$cache/setup.lock"
flock 9   # two builds that start together install once

say() { printf '\033[1m-- %s\033[0m\n' "$*"; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

install_packages() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$cache/apt.log" 2>&1 \
    || { tail -20 "$cache/apt.log" >&2; exit 1; }
}

install_packages g++ ccache mold ninja-build python3 python3-venv libcli11-dev nlohmann-json3-dev libfmt-dev \
  libgtest-dev libgmock-dev libjpeg-dev clang-format libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev

# A stamp names what a Python environment holds; a changed list is a changed stamp.
install_wheels() { # STAMP pip-arguments...
  local stamp=$venv/stamp-$1
  shift
  [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$*" ] && return
  say "fetching $*"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"
  echo "$*" >"$stamp"
}

[ -x "$venv/bin/python3" ] || python3 -m venv "$venv"
install_wheels build --no-deps "cmake==$cmake_version" "torch==$torch_version" \
  "nvidia-cuda-runtime==$cuda_runtime_version" "nvidia-cuda-cupti==$cuda_cupti_version"

if [ $want_cuda = 1 ] || [ $want_oracle = 1 ]; then
  install_wheels cuda "torch==$torch_version" "nvidia-cuda-nvcc==$nvcc_version" "nvidia-cuda-crt==$nvcc_version" "nvidia-nvvm==$nvcc_version" "nvidia-cuda-cccl==$cccl_version" "nvidia-nvjpeg==$nvjpeg_version" "nvidia-npp==$npp_version" \
    "nvidia-nvml-dev==$nvml_version" "nvidia-cudnn-frontend==$cudnn_frontend_version"
fi
link_cuda_libraries() { # the wheels hold libx.so.13 alone; a linker looks for libx.so in lib64
  source scripts/versions.sh
  ln -sfn lib "$cuda_root/lib64"
  for library in "$cuda_root"/lib/lib*.so.*; do
    local plain=${library%%.so.*}.so
    [ -e "$plain" ] || ln -s "$(basename "$library")" "$plain"
  done
}
# Chromium is a package on Debian; on Ubuntu it is a snap, which isn't installed from here: there the test that
# needs it is skipped, and says so. Of axe-playwright-python only the script within is used, so without Playwright.
install_browser() {
  apt-cache show chromium-driver >/dev/null 2>&1 || as_root apt-get update -qq
  if ! apt-cache show chromium-driver >/dev/null 2>&1; then
    say "this distribution has no packages chromium and chromium-driver: the test in a browser will be skipped"
    return
  fi
  install_packages chromium chromium-driver
  [ -e "$browser_venv" ] && return
  say "fetching Selenium and axe-core"
  rm -rf "$browser_venv.partial"
  python3 -m venv "$browser_venv.partial"
  "$browser_venv.partial/bin/python3" -m pip install --quiet --disable-pip-version-check "selenium==$selenium_version"
  "$browser_venv.partial/bin/python3" -m pip install --quiet --disable-pip-version-check --no-deps \
    "axe-playwright-python==$axe_package_version"
  mv "$browser_venv.partial" "$browser_venv"   # a folder that exists is a folder that is whole
}
if [ $want_oracle = 1 ]; then
  install_wheels oracle "torchvision==$torchvision_version" "pillow==$pillow_version" numpy
  install_browser
fi
if [ $want_cuda = 1 ]; then
  link_cuda_libraries
  scripts/build_opencv.sh
fi

