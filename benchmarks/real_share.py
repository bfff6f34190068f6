"""What share of its own step's rate a training reaches on real files, epoch by epoch.

    python3 benchmarks/real_share.py --images DIR [--executable build/cuda/app/slipstream] [--batch-sizes 128,256,512]
                                     [--epochs 10] [--files 20000] [--options '...'] [--json FILE]

DIR is an ImageNet-style folder of classes; its files are linked into a folder of at least --files files, in memory
where /dev/shm is there. Each batch size is a `slipstream train` of ResNet-50 (224 px, fp16, channels-last, the step as
a graph, overlapped, GPU decode; --options takes the place of all these), which times its own step before any input is
under way. Prints a Markdown table: that rate, the rates of the epochs after the first, and their share of it.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

from linked_images import link_images, temporary_folder

OPTIONS = "--amp fp16 --channels-last --cudnn-benchmark --cuda-graph --mode overlapped --decode cuda --device cuda"


def train(arguments, data, out, batch_size):
    command = [arguments.executable, "train", "--data", str(data), "--out", str(out), "--batch-size", str(batch_size),
               "--epochs", str(arguments.epochs), *shlex.split(arguments.options)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=arguments.timeout)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)} failed with {done.returncode}: {done.stderr[-400:]}")
    return json.loads((out / "report.json").read_text())["epochs"]


def span(values, form):
    low, high = form(min(values)), form(max(values))
    return low if low == high else f"{low} to {high}"


def row(batch_size, epochs):
    first, *later = epochs
    percent = "{:.1%}".format
    return (f"| {batch_size} | {first['alone_images_per_s']:,.0f} "
            f"| {span([e['images_per_s'] for e in later], '{:,.0f}'.format)} "
            f"| {span([e['alone_share'] for e in later], percent)} | {percent(first['alone_share'])} "
            f"| {span([e['data_wait_s'] / e['wall_s'] for e in later], percent)} "
            f"| {span([e['gpu_clock_mhz'] for e in later], '{:,.0f}'.format)} "
            f"| {span([e['gpu_power_w'] for e in later], '{:,.0f}'.format)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--executable", default="build/cuda/app/slipstream")
    parser.add_argument("--batch-sizes", default="128,256,512")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--options", default=OPTIONS)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one training")
    parser.add_argument("--json", type=pathlib.Path, help="all epochs' reports")
    arguments = parser.parse_args()
    if arguments.epochs < 2:
        parser.error("--epochs: two at least, since the first one starts threads and fills caches")

    with temporary_folder() as folder:
        data = pathlib.Path(folder)
        count = link_images(arguments.images, data, arguments.files)
        print(f"{count} files\n\n| batch | the step alone | epochs 2 to {arguments.epochs} | share | epoch 1 | data wait | clock (MHz) | power (W) |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
        reports = {}
        for batch_size in map(int, arguments.batch_sizes.split(",")):
            reports[batch_size] = train(arguments, data, data / f"out{batch_size}", batch_size)
            print(row(batch_size, reports[batch_size]), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(reports, indent=1))


if __name__ == "__main__":
    main()
