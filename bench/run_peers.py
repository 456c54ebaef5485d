"""Runs each workload in turn with this framework and its peers, and writes the table.

    python3 bench/run_peers.py [--workloads mlp,vgg] [--modes train,infer] [--peers torch,tf,jax] [--rounds 3] [--report]

Every figure is a process of its own: ours, peer, ours, peer ... (A B A B), equal threads, float32; the medians of the rounds count.
Runs are kept in build/bench-peers.jsonl as they come, so that an interrupted comparison goes on where it was (--fresh begins anew) and
--report writes the table of what is there. Standard library only.
"""
import argparse
import datetime
import json
import math
import os
import platform
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
KEPT = os.path.join(ROOT, "build", "bench-peers.jsonl")
WORKLOADS = "mlp lenet resnet20 resnet50 vgg mobilenet lstm transformer embed tiny eager".split()
VARIANTS = {"torch": ["plain", "compile"], "tf": ["graph", "xla"], "jax": ["jit"]}
KANN = {"plain": [], "blas": ["-DHAVE_CBLAS"]}  # a C peer, with --kann
KANN_WORKLOADS = ("mlp", "lenet")


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def busy():
    """The load of the machine before we begin; waits a while for it to calm down."""
    for _ in range(6):
        load = os.getloadavg()[0]
        if load < 0.7 * len(os.sched_getaffinity(0)):
            return None
        time.sleep(5)
    return load


def run(command, limit):
    """The line of JSON that the command ends with, or why there is none."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", JAX_PLATFORMS="cpu")
    if "kann" in os.path.basename(command[0]):
        environment["OPENBLAS_NUM_THREADS"] = "1"  # the threads are kann's
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return {"error": "longer than %d s" % limit}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        text = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return {"error": text[:200]}
    return json.loads(lines[-1])


def commands(options, workload, mode):
    steps = ["--steps", str(options.steps)] if options.steps else []
    threads = ["--threads", str(options.threads)]
    script = os.path.join(HERE, "workloads", workload + ".lua")
    yield "ours", [options.program, "run", script, "--mode", mode] + steps + threads
    for peer in options.peers:
        for variant in VARIANTS[peer]:
            if options.quick and variant in ("compile", "xla"):
                continue
            script = os.path.join(HERE, "peers", peer + "_bench.py")
            yield peer + " " + variant, [options.python, script, workload, "--mode", mode, "--variant", variant] + steps + threads


    for variant in KANN if options.kann and workload in KANN_WORKLOADS else ():
        program = os.path.join(ROOT, "build", "kann-bench-" + variant)
        yield "kann " + variant, [program, workload, "--mode", mode, "--variant", variant] + steps + threads


def build_kann(options):
    """Our workloads in its API, linked with the sources that the user has."""
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    for variant, flags in KANN.items():
        sources = [os.path.join(HERE, "peers", "kann_bench.c")] + [os.path.join(options.kann, f) for f in ("kann.c", "kautodiff.c")]
        command = ["cc", "-O3", "-march=native", "-DHAVE_PTHREAD", "-I" + options.kann] + flags + sources
        command += ["-o", os.path.join(ROOT, "build", "kann-bench-" + variant), "-lpthread", "-lm"] + (["-lopenblas"] if flags else [])
        subprocess.run(command, check=True)


def kept():
    try:
        with open(KEPT) as lines:
            return [json.loads(line) for line in lines]
    except FileNotFoundError:
        return []


def collect(options):
    os.makedirs(os.path.dirname(KEPT), exist_ok=True)
    if options.fresh and os.path.exists(KEPT):
        os.remove(KEPT)
    have = {(r["workload"], r["mode"], r["who"], r["round"]) for r in kept()}
    for number in range(options.rounds):
        for mode in options.modes:
            for workload in options.workloads:
                for who, command in commands(options, workload, mode):
                    if (workload, mode, who, number) in have:
                        continue
                    load = busy()
                    if load:
                        print("the machine is busy (load %.1f): figures may mislead" % load, file=sys.stderr)
                    result = run(command, options.limit)
                    result.update(workload=workload, mode=mode, who=who, round=number)
                    with open(KEPT, "a") as out:
                        out.write(json.dumps(result) + "\n")
                    text = result.get("error") or "%9.3f ms %8.1f MB" % (result["ms"], result["peak_mb"])
                    print("%-12s %-6s %-15s %s" % (workload, mode, who, text), flush=True)


def table(options):
    """Lines of Markdown, and the geometric means by mode."""
    runs, lines, means = {}, [], {}
    for r in kept():
        if "ms" in r:
            runs.setdefault((r["mode"], r["workload"]), {}).setdefault(r["who"], []).append(r)
    for mode in options.modes:
        ratios = []
        lines += ["", "### " + ("Training step" if mode == "train" else "Inference"), "",
                  "| workload | ours ms | fastest peer ms | ratio | all peers ms | ours MB | leanest peer MB | ratio |",
                  "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |"]
        for workload in WORKLOADS:
            whos = runs.get((mode, workload), {})
            if "ours" not in whos or len(whos) < 2:
                continue
            ms = {who: median([r["ms"] for r in rs]) for who, rs in whos.items()}
            mb = {who: median([r["peak_mb"] for r in rs]) for who, rs in whos.items()}
            peers = sorted((v, k) for k, v in ms.items() if k != "ours")
            lean = min((v, k) for k, v in mb.items() if k != "ours")
            ratio = ms["ours"] / peers[0][0]
            ratios.append(ratio)
            lines.append("| %s | %.3f | %.3f (%s) | **%.2f** | %s | %.0f | %.0f (%s) | %.2f |" % (
                workload, ms["ours"], peers[0][0], peers[0][1], ratio, ", ".join("%s %.3f" % (k, v) for v, k in peers),
                mb["ours"], lean[0], lean[1], mb["ours"] / lean[0] if lean[0] > 0 else float("nan")))
        if ratios:
            means[mode] = math.exp(sum(map(math.log, ratios)) / len(ratios))
            lines += ["", "Geometric mean of the ratios over %d workloads: **%.2f**" % (len(ratios), means[mode])]
    return lines, means


def start_up(options):
    """Whole processes, in turn: medians of seven."""
    empty = os.path.join(ROOT, "build", "empty.lua")
    open(empty, "w").close()
    who = {"tfsdk run, an empty script": [options.program, "run", empty], "lua5.4, an empty script": ["lua5.4", empty]}
    for name in ("torch", "tensorflow", "jax"):
        who["import " + name] = [options.python, "-c", "import " + name]
    times = {name: [] for name in who}
    for _ in range(7):
        for name, command in who.items():
            began = time.perf_counter()
            try:
                code = subprocess.run(command, capture_output=True, env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")).returncode
            except FileNotFoundError:
                code = 1
            if code == 0:
                times[name].append((time.perf_counter() - began) * 1000)
    return ["| %s | %.1f ms |" % (name, median(t)) for name, t in times.items() if t]


def neighbour(options):
    """A training step of the mlp, quiet and with one other process that burns a core."""
    lines = []
    for who, command in commands(options, "mlp", "train"):
        if who not in ("ours", "torch plain"):
            continue
        quiet, loaded = [], []
        for _ in range(3):
            quiet.append(run(command, options.limit).get("ms", float("nan")))
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            loaded.append(run(command, options.limit).get("ms", float("nan")))
            other.kill()
            other.wait()
        lines.append("| %s | %.2f ms | %.2f ms | %.2f |" % (who, median(quiet), median(loaded), median(loaded) / median(quiet)))
    return lines


def machine():
    model = "unknown processor"
    with open("/proc/cpuinfo") as lines:
        flags = ""
        for line in lines:
            if line.startswith("model name"):
                model = line.split(":")[1].strip()
            if line.startswith("flags"):
                flags = line
    wide = "AVX-512" if " avx512f" in flags else "AVX2" if " avx2" in flags else "no AVX2"
    return "%s, %d processors, %s, %s" % (model, len(os.sched_getaffinity(0)), wide, platform.platform())


def versions(options):
    code = ("import importlib.metadata as m\n"
            "for n in ('torch', 'tensorflow', 'tensorflow-cpu', 'jax'):\n"
            "  try: print(n, m.version(n))\n"
            "  except m.PackageNotFoundError: pass")
    done = subprocess.run([options.python, "-c", code], capture_output=True, text=True)
    ours = subprocess.run([options.program, "--version"], capture_output=True, text=True).stdout.strip()
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return ", ".join([ours + " (" + commit + ")"] + done.stdout.split("\n")[:-1])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    listed = lambda text: text.split(",")
    p.add_argument("--workloads", type=listed, default=WORKLOADS)
    p.add_argument("--modes", type=listed, default=["train", "infer"])
    p.add_argument("--peers", type=listed, default=list(VARIANTS))
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, help="steps to time; as many as a few seconds allow by default")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--limit", type=int, default=600, help="seconds for one run")
    p.add_argument("--quick", action="store_true", help="without torch.compile and XLA")
    p.add_argument("--fresh", action="store_true", help="forget earlier runs")
    p.add_argument("--collect", action="store_true", help="only run the workloads, write no table")
    p.add_argument("--report", action="store_true", help="only write the table of what is there")
    p.add_argument("--kann", metavar="DIR", help="sources of kann (github.com/attractivechaos/kann), to be compared as well")
    p.add_argument("--program", default=os.path.join(ROOT, "build", "bin", "tfsdk"))
    p.add_argument("--python", default=sys.executable)
    options = p.parse_args()
    if options.kann:
        build_kann(options)
    if not options.report:
        collect(options)
    if options.collect:
        return
    lines, _ = table(options)
    head = ["# Against peers, " + datetime.date.today().isoformat(), "", "- Machine: " + machine(),
            "- Versions: " + versions(options), "- Threads: %d; float32; medians of processes run in turn" % options.threads,
            "- Command: `make bench-peers` (or `bench/run_peers.py` with a choice of workloads, peers and rounds)",
            "- A ratio below 1 is a step of ours that takes less time, or memory, than the best peer's."]
    extra = []
    if not options.report:
        extra = ["", "### Start-up, whole process", "", "| what | time |", "| --- | ---: |"] + start_up(options)
        extra += ["", "### With a neighbour that burns one core (mlp, training step)", "",
                  "| who | quiet | loaded | ratio |", "| --- | ---: | ---: | ---: |"] + neighbour(options)
    text = "\n".join(head + lines + extra) + "\n"
    path = os.path.join(HERE, "results", datetime.date.today().isoformat() + ".md")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(text)
    print(text + "\nwritten to " + os.path.relpath(path, ROOT))


if __name__ == "__main__":
    main()
