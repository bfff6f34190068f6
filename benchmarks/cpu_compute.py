"""The training step on the CPU: slipstream against eager PyTorch, in float32, with the same number of threads.

    python3 benchmarks/cpu_compute.py [--executable build/cpu/app/slipstream] [--rounds 3] [--threads 2]

ResNet-18 and ResNet-50, 224 px, batch 16, channels-last, one random batch. Rounds are interleaved, so that other work
on the machine hits both; a round's figure is the median of 4 steps after one. Needs torchvision. Prints a Markdown
table.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

import torch
import torchvision

BATCH = 16
STEPS = 4


def eager(arch):
    """Images/s of torchvision's network."""
    model = getattr(torchvision.models, arch)().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    images = torch.randn(BATCH, 3, 224, 224).to(memory_format=torch.channels_last)
    labels = torch.randint(1000, (BATCH,))
    seconds = []
    for _ in range(1 + STEPS):
        start = time.perf_counter()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    return BATCH / statistics.median(seconds[1:])


def ours(arch, executable, threads):
    """Images/s of `bench compute`."""
    command = [executable, "bench", "compute", "--device", "cpu", "--arch", arch, "--batch-size", str(BATCH),
               "--channels-last", "--steps", "1", "--windows", str(STEPS), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": str(threads)})
    return json.loads(done.stdout)["images_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executable", default="build/cpu/app/slipstream")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    print("| network | PyTorch eager, img/s (median, range) | slipstream | ratio |\n|---|---|---|---|")
    for arch in ("resnet18", "resnet50"):
        theirs, own = [], []
        for _ in range(arguments.rounds):
            theirs.append(eager(arch))
            own.append(ours(arch, arguments.executable, arguments.threads))
        cells = [f"{statistics.median(each):.2f} ({min(each):.2f} to {max(each):.2f})" for each in (theirs, own)]
        ratio = statistics.median(own) / statistics.median(theirs)
        print(f"| {arch} | {cells[0]} | {cells[1]} | {ratio:.2f} |", flush=True)


main()
