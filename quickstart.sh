#!/usr/bin/env bash
# From a fresh Debian 12 or Ubuntu machine to two trained epochs and their reports side by side:
# installs what is needed, builds, writes a sample folder, trains ResNet-50 on it, serially and overlapped.
#   ./quickstart.sh          on the CPU
#   ./quickstart.sh --cuda   on an NVIDIA GPU (builds OpenCV's CUDA modules first, once per user)
set -euo pipefail
cd "$(dirname "$0")"

preset=cpu
case "${1:-}" in
  "") ;;
  --cuda) preset=cuda ;;
  *) echo "quickstart.sh: unknown option '$1'; it takes --cuda" >&2; exit 2 ;;
esac
if [ $preset = cuda ] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo "quickstart.sh: --cuda needs an NVIDIA GPU and its driver; nvidia-smi finds none. Without: ./quickstart.sh" >&2
  exit 1
fi

scripts/setup.sh $([ $preset = cuda ] && echo --cuda)
scripts/build.sh $preset --target slipstream
slipstream=build/$preset/app/slipstream

say() { printf '\033[1m-- %s\033[0m\n' "$*"; }
data=runs/quickstart/images
if [ ! -d $data ]; then
  say "writing a sample folder of generated images to $data"
  rm -rf $data.partial   # a folder of the final name is whole
  $slipstream synth $data.partial --classes 10 --train 48 --val 8
  mv $data.partial $data
fi
train=(--data $data --arch resnet50 --epochs 1 --lr 0.01 --channels-last)
if [ $preset = cuda ]; then
  train+=(--image-size 224 --batch-size 32 --amp fp16)
else
  train+=(--image-size 64 --batch-size 32)
fi
for mode in serial overlapped; do
  say "training ResNet-50, $mode: slipstream train ${train[*]} --mode $mode"
  $slipstream train "${train[@]}" --mode $mode --out runs/quickstart/$mode
done
say "both epochs side by side: slipstream summary"
$slipstream summary runs/quickstart/serial runs/quickstart/overlapped
