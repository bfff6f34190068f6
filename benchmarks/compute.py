"""The training step alone: PyTorch eager, torch.compile and slipstream on the same GPU in one call.

    python3 benchmarks/compute.py [--executable build/cuda/app/slipstream] [--rows 'eager;compile;graph'] [--json FILE]

ResNet-50, 224 px, one random batch that stays on the device, channels-last. Every row warms up first; its figure
is the median of 5 windows of about a second. Prints a Markdown table, with each kind of kernel's time in ours.
"""
import argparse
import json
import statistics
import subprocess
import sys
import time

OURS = ["bench", "compute", "--channels-last", "--cudnn-benchmark", "--json", "-"]

# Name: (who, options)
ROWS = {
    "PyTorch eager, fp16": ("eager", {"amp": "float16", "batch": 256}),
    "torch.compile, fp16": ("compile", {"amp": "float16", "batch": 256}),
    "slipstream, unfused norms, fp16": ("ours", ["--amp", "fp16", "--fused-norm", "off"]),
    "slipstream, fp16": ("ours", ["--amp", "fp16"]),
    "slipstream, graph, fp16": ("ours", ["--amp", "fp16", "--cuda-graph"]),
    "slipstream, graph, bf16": ("ours", ["--amp", "bf16", "--cuda-graph"]),
    "slipstream, graph, fp16, batch 128": ("ours", ["--amp", "fp16", "--cuda-graph", "--batch-size", "128"]),
    "slipstream, graph, fp16, batch 512": ("ours", ["--amp", "fp16", "--cuda-graph", "--batch-size", "512"]),
}


def pytorch(compiled, amp, batch):
    """Images/s and peak bytes of one training step of torchvision's network, repeated."""
    import torch

    from pytorch_step import Step, synthetic_batch

    step = Step(compiled, getattr(torch, amp))
    images, labels = synthetic_batch(batch)

    def steps(count):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            step(images, labels)
        torch.cuda.synchronize()
        return count * batch / (time.perf_counter() - start)

    steps(10)
    torch.cuda.reset_peak_memory_stats()
    rate = statistics.median(steps(25) for _ in range(5))
    return {"images_per_s": rate, "peak_bytes": torch.cuda.max_memory_allocated(),
            "reserved_bytes": torch.cuda.memory_reserved()}


def in_a_process(arguments, row):
    """A process of its own a row, so that none inherits another's memory or choices."""
    who, options = ROWS[row]
    if who == "ours":
        command = [arguments.executable, *OURS, *options]
    else:
        command = [sys.executable, __file__, "--row", row]
    run = subprocess.run(command, capture_output=True, text=True, timeout=arguments.timeout)
    if run.returncode != 0:
        sys.exit(f"{row}: {' '.join(command)} failed:\n{run.stderr}")
    return json.loads(run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executable", default="build/cuda/app/slipstream")
    parser.add_argument("--rows", help="names, or parts of them, separated by ;")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one row")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        who, options = ROWS[arguments.row]
        print(json.dumps(pytorch(who == "compile", **options)))
        return

    wanted = arguments.rows.split(";") if arguments.rows else [""]
    results = {}
    for row in [name for name in ROWS if any(part in name for part in wanted)]:
        results[row] = in_a_process(arguments, row)
        print(f"{row}: {results[row]['images_per_s']:,.0f} img/s", file=sys.stderr, flush=True)
        if arguments.json:
            with open(arguments.json, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)

    peers = [results[name]["images_per_s"] for name in list(ROWS)[:2] if name in results]
    print("| run | img/s | " + "".join(f"x {name.split(',')[0]} | " for name in list(ROWS)[:2] if name in results)
          + "peak GB | held GB |")
    print("|---|---|" + "---|" * (len(peers) + 2))
    for row, result in results.items():
        ratios = "".join(f" {result['images_per_s'] / peer:.2f} |" for peer in peers)
        memory = "".join(f" {result[key] / 1e9:.1f} |" for key in ("peak_bytes", "reserved_bytes"))
        print(f"| {row} | {result['images_per_s']:,.0f} |{ratios}{memory}")


main()
