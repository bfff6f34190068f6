"""Training throughput of every mode and decoder, and of PyTorch's DataLoader, on one machine in one call.

    python3 benchmarks/throughput.py --images DIR [--executable build/cuda/app/slipstream] [--out results]

DIR is an ImageNet-style folder of classes (photographs at least; see the README for a sample). Its files are
linked into a folder of at least --files files, in memory where /dev/shm is there, and ResNet-50 is trained
on them: 224 px, batch 256, fp16, channels-last. Each row is the second epoch of a run (the first warms up);
slow rows are cut to fewer batches. Prints a Markdown table and writes the raw reports below --out.
"""
import argparse
import functools
import json
import os
import pathlib
import shlex
import subprocess
import sys

from linked_images import link_images, temporary_folder

COMMON = ["--arch", "resnet50", "--image-size", "224", "--batch-size", "256", "--amp", "fp16",
          "--channels-last", "--cudnn-benchmark", "--epochs", "2", "--device", "cuda"]

TIMEOUT_S = 60  # of one run

# Name, options, batches an epoch (None: all).
ROWS = [
    ("synthetic", ["--synthetic"], 80),
    ("overlapped, GPU decode", ["--mode", "overlapped", "--decode", "cuda"], None),
    ("pinned, GPU decode", ["--mode", "pinned", "--decode", "cuda"], None),
    ("serial, GPU decode", ["--mode", "serial", "--decode", "cuda"], 15),
    ("overlapped, CPU decode", ["--mode", "overlapped", "--decode", "cpu"], None),
    ("pinned, CPU decode", ["--mode", "pinned", "--decode", "cpu"], None),
    ("serial, CPU decode", ["--mode", "serial", "--decode", "cpu"], 4),
]


def run_slipstream(executable, data, out, options, batches):
    command = [executable, "train", "--data", str(data), "--out", str(out), *COMMON, *options]
    if batches:
        command += ["--limit-batches", str(batches)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, words = run.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        run.kill()  # and no wait: it may be stuck in the driver
        return {"error": f"not done after {TIMEOUT_S} s"}
    if run.returncode != 0:
        return {"error": f"{' '.join(command)} failed with {run.returncode}: {words[-400:]}"}
    return json.loads((out / "report.json").read_text())["epochs"][-1]


def run_pytorch(data, workers, synthetic):
    script = pathlib.Path(__file__).parent / "pytorch_dataloader.py"
    command = [sys.executable, str(script), "--data", str(data), "--workers", str(workers)]
    done = subprocess.run(command + (["--synthetic"] if synthetic else []), capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": done.stderr[-400:]}
    return json.loads(done.stdout.splitlines()[-1])


def percent(value):
    return "" if value is None else f"{100 * value:.1f}%"


def print_row(name, report, baseline):
    if "error" in report:
        print(f"| {name} | {report['error']} |", flush=True)
        return
    wall = report["wall_s"]
    wait = report.get("data_wait_s")
    print(f"| {name} | {report['images_per_s']:,.0f} | {report['images_per_s'] / baseline:.2f} | {wall:.2f} | "
          f"{percent(wait / wall if wait is not None else None)} | {percent(report.get('hidden_share'))} | "
          f"{percent(report.get('gpu_util'))} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=pathlib.Path, required=True)
    parser.add_argument("--executable", default="build/cuda/app/slipstream")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/throughput"))
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--options", default="", help="more options for slipstream's rows, such as '--cuda-graph'")
    parser.add_argument("--rows", metavar="PARTS", help="only rows whose name contains one of these, with ; between")
    arguments = parser.parse_args()

    with temporary_folder() as folder:
        data = pathlib.Path(folder)
        count = link_images(arguments.images, data, arguments.files)
        print(f"{count} files, {os.cpu_count()} cores\n")
        reports = {}
        print("| run | img/s | of PyTorch's DataLoader | epoch (s) | data wait | input hidden | GPU used |")
        print("|---|---|---|---|---|---|---|")
        arguments.out.mkdir(parents=True, exist_ok=True)
        runs = {"PyTorch DataLoader, eager": lambda: run_pytorch(data, arguments.workers, synthetic=False)}
        for name, options, batches in ROWS:
            out = arguments.out / name.replace(", ", "-").replace(" ", "-")
            runs[name] = functools.partial(run_slipstream, arguments.executable, data, out,
                                           options + shlex.split(arguments.options), batches)
        runs["PyTorch synthetic, eager"] = lambda: run_pytorch(data, arguments.workers, synthetic=True)
        baseline = float("nan")
        for name, run in runs.items():
            if arguments.rows and not any(part in name for part in arguments.rows.split(";")):
                continue
            reports[name] = run()
            if name.startswith("PyTorch DataLoader"):
                baseline = reports[name].get("images_per_s", baseline)
            print_row(name, reports[name], baseline)
            (arguments.out / "throughput.json").write_text(json.dumps(reports, indent=2))


main()
