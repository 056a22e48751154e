#!/usr/bin/env python3
"""Alternates training steps of ours and of PyTorch, so that both see the same machine, and prints a table.

A ratio is PyTorch's time divided by ours in the same round: above 1 we are faster. Quoted: the median over the rounds
and, as spread, the smallest and largest. `evaluation` counts the time of a line search per evaluation of the loss, so
that neither gains by evaluating less. --json FILE writes all rounds.
"""
import argparse
import collections
import json
import os
import platform
import statistics
import subprocess
import sys

Case = collections.namedtuple("Case", "name work precision peer_modes figure ours peer steps")

LBFGS = "training.phases.0.optimizer={kind: lbfgs, history_size: 50}"
CASES = [
    Case("burgers", "burgers", "float32", ["nested", "compile", "taylor", "taylor_compile"], "median_ms", [], [], 40),
    Case("burgers64", "burgers", "float64", ["nested", "taylor"], "median_ms", [], [], 20),
    Case("burgers_lbfgs", "burgers", "float64", ["nested"], "evaluation_ms", [LBFGS], ["--optimizer", "lbfgs"], 20),
    Case("kdv", "kdv", "float32", ["nested", "taylor"], "median_ms", [], [], 20),
    Case("burgers_ralimp", "burgers_ralimp", "float32", ["nested", "compile"], "median_ms", [], [], 20),
    Case("siren", "siren", "float32", ["nested", "compile"], "median_ms", [], [], 4),
]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("cases", nargs="*", metavar="CASE", default=[case.name for case in CASES],
                    help="of " + ", ".join(case.name for case in CASES) + "; default: all")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--modes", nargs="+", help="of PyTorch, see peer_step.py; compile takes minutes to start")
parser.add_argument("--json", help="write everything measured to this file")
options = parser.parse_args()
unknown = set(options.cases) - {case.name for case in CASES}
if unknown:
    parser.error("no such case: " + ", ".join(sorted(unknown)))

folder = os.path.dirname(os.path.abspath(__file__))
program = os.path.join(folder, "..", "..", "build", "tests", "bench_train_step")
cores = sorted(os.sched_getaffinity(0))[:options.threads]


def measure(command):
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    pinned = ["taskset", "--cpu-list", ",".join(map(str, cores))] + command
    result = subprocess.run(pinned, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stderr}")
    return json.loads(result.stdout.strip().splitlines()[-1])


def our_step(case):
    return measure([program, os.path.join(folder, "work", case.work + ".yaml"), f"precision={case.precision}",
                    f"threads={options.threads}", *case.ours, "--steps", str(case.steps)])


def peer_step(case, mode):
    return measure([sys.executable, os.path.join(folder, "peer_step.py"), case.work, "--mode", mode,
                    "--dtype", case.precision, "--threads", str(options.threads), "--steps", str(case.steps),
                    "--warmup", "5", *case.peer])


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


chosen = [(case, mode) for case in CASES if case.name in options.cases
          for mode in case.peer_modes if not options.modes or mode in options.modes]
if not chosen:
    parser.error("none of these cases has such a mode")
rounds = collections.defaultdict(list)
for number in range(options.rounds):
    for case, mode in chosen:
        rounds[case.name, mode].append((our_step(case), peer_step(case, mode)))
    print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)


def middle(values):
    return statistics.median(values)


print(f"{rounds[chosen[0][0].name, chosen[0][1]][0][1]['program']}, {options.threads} threads of {processor()}")
print(f"{'work':15} {'type':8} {'PyTorch mode':14} {'ours ms':>9} {'PyTorch ms':>11} {'ratio':>7}   {'spread':14} "
      f"{'our MB':>7} {'their MB':>9}")
for case, mode in chosen:
    pairs = rounds[case.name, mode]
    ratios = [them[case.figure] / us[case.figure] for us, them in pairs]
    print(f"{case.name:15} {case.precision:8} {mode:14} {middle(us[case.figure] for us, _ in pairs):9.2f} "
          f"{middle(them[case.figure] for _, them in pairs):11.2f} {middle(ratios):7.2f}   "
          f"{f'{min(ratios):.2f} to {max(ratios):.2f}':14} "
          f"{middle(us['resident_bytes'] for us, _ in pairs) / 1e6:7.0f} "
          f"{middle(them['resident_bytes'] for _, them in pairs) / 1e6:9.0f}")
if options.json:
    with open(options.json, "w") as file:
        json.dump({"processor": processor(), "threads": options.threads,
                   "rounds": {f"{name} {mode}": pairs for (name, mode), pairs in rounds.items()}}, file, indent=1)
