"""What the peers' workloads share: command line, timing loop and line of JSON; the same rules as bench/workloads/common.lua.

    python torch_bench.py WORKLOAD [--mode train|infer] [--variant V] [--steps N] [--threads N]
"""
import argparse
import json
import os
import sys
import time

WORKLOADS = "mlp lenet resnet20 resnet50 vgg mobilenet lstm transformer embed tiny eager".split()


def peak_memory():
    """The peak of the process's resident memory so far, in bytes."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024


def arguments(variants):
    """The command line; the first variant is the default. To be called when the framework is imported."""
    parser = argparse.ArgumentParser()
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--mode", choices=["train", "infer"], default="train")
    parser.add_argument("--variant", choices=variants, default=variants[0])
    parser.add_argument("--steps", type=int)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    options.training = options.mode == "train"
    options.peak_before = peak_memory()
    return options


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def measure(options, peer, step, parameters):
    """Warms up (the first call compiles), then times single steps; step() gives the loss or None when it is done."""
    step()
    began = time.perf_counter()
    for warm in range(1, 21):
        step()
        if warm >= 2 and time.perf_counter() - began > 0.5:
            break
    times, loss = [], None
    began = time.perf_counter()
    for n in range(1, (options.steps or 300) + 1):
        start = time.perf_counter()
        loss = step()
        now = time.perf_counter()
        times.append((now - start) * 1000)
        if not options.steps and n >= 5 and now - began > 5:
            break
    line = {"workload": options.workload, "mode": options.mode, "ms": round(median(times), 4), "n": len(times),
            "peak_mb": round((peak_memory() - options.peak_before) / 1e6, 1), "parameters": int(parameters),
            "peer": peer, "variant": options.variant}
    if loss is not None:
        line["loss"] = float(f"{loss:.6g}")
    print(json.dumps(line))
    sys.stdout.flush()
    os._exit(0)  # some frameworks take seconds to leave, or wait for their compiler's workers
