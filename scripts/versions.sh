# The versions that slipstream builds with, and where they live. Sourced by the other scripts.
torch_version=2.11.0
torchvision_version=0.26.0
pillow_version=12.0.0
selenium_version=4.51.0
axe_package_version=0.1.8   # of axe-playwright-python, for the axe-core 4.12.1 in it
cmake_version=4.1.2
cuda_version=13.0
cuda_runtime_version=13.0.96
cuda_cupti_version=13.0.85
nvjpeg_version=13.0.1.86
npp_version=13.0.1.2
nvml_version=13.0.87
nvcc_version=13.0.88
cccl_version=13.0.85
cudnn_frontend_version=1.18.0
opencv_version=4.13.0.90

cache=${SLIPSTREAM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slipstream}
venv=$cache/torch-$torch_version-cu130
wheels=$(echo "$venv"/lib/python3*/site-packages)
cuda_root=$wheels/nvidia/cu13                   # nvcc and CUDA's headers and libraries, from wheels
cuda_architecture=${SLIPSTREAM_CUDA_ARCHITECTURE:-9.0}
browser_venv=$cache/browser-selenium-$selenium_version-axe-$axe_package_version   # what drives Chromium in a test
opencv_cuda=$cache/opencv-$opencv_version-cuda$cuda_version-sm${cuda_architecture/./}
