"""CPU seconds for 1,000 training images from file to tensor: slipstream's CPU path against torchvision's.

    python3 benchmarks/cpu_input.py --images DIR [--executable build/cpu/app/slipstream] [--rounds 3]

DIR is an ImageNet-style folder of classes. Both read, decode, crop at random, resize to 224 px, flip and
normalise on one thread; rounds are interleaved, and CPU time (not wall time) is compared, so that other work on
the machine disturbs little. Needs torchvision and Pillow. Prints a Markdown table.
"""
import argparse
import json
import statistics
import subprocess
import time

import torch
import torchvision
from torchvision import transforms

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--images", required=True)
parser.add_argument("--executable", default="build/cpu/app/slipstream")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--batches", type=int, default=12, help="of 32 images, a round")
arguments = parser.parse_args()
torch.set_num_threads(1)

pillow = torchvision.datasets.ImageFolder(arguments.images, transforms.Compose([
    transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
    transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]))


def torchvision_seconds():
    order = torch.randperm(len(pillow)).repeat(1 + arguments.batches * 32 // len(pillow))[:arguments.batches * 32]
    start = time.process_time()
    for i in order.tolist():
        pillow[i]
    return (time.process_time() - start) / len(order) * 1000


def slipstream_seconds(*options):
    command = [arguments.executable, "bench", "input", "--data", arguments.images, "--mode", "serial", "--decode",
               "cpu", "--device", "cpu", "--batch-size", "32", "--batches", str(arguments.batches), *options,
               "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"OMP_NUM_THREADS": "1"})
    return json.loads(done.stdout)["rows"][0]["cpu_s_per_1000_images"]


runs = {"torchvision, Pillow": torchvision_seconds,
        "slipstream": lambda: slipstream_seconds(),
        "slipstream, --cpu-decode fast": lambda: slipstream_seconds("--cpu-decode", "fast"),
        "slipstream, --resize opencv": lambda: slipstream_seconds("--resize", "opencv")}
seconds = {name: [] for name in runs}
for _ in range(arguments.rounds):
    for name, run in runs.items():
        seconds[name].append(run())
baseline = statistics.median(seconds["torchvision, Pillow"])
print("| run | CPU s for 1,000 images (median, range) | times torchvision's rate |\n|---|---|---|")
for name, values in seconds.items():
    median = statistics.median(values)
    print(f"| {name} | {median:.2f} ({min(values):.2f} to {max(values):.2f}) | {baseline / median:.2f} |")
