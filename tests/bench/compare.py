#!/usr/bin/env python3
"""Alternates one training step of ours and of PyTorch, so that both see the same machine, and prints a table.

A ratio is PyTorch's time divided by ours in the same round: above 1 we are faster. Quoted: the median over the rounds
and, as spread, the smallest and largest. --json FILE writes all rounds.
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--steps", type=int, default=40, help="timed steps of one round")
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--modes", nargs="+", default=["nested", "taylor", "compile"],
                    choices=["nested", "taylor", "compile"],
                    help="of PyTorch; compile takes minutes to start")
parser.add_argument("--json", help="write everything measured to this file")
options = parser.parse_args()

folder = os.path.dirname(os.path.abspath(__file__))
ours = os.path.join(folder, "..", "..", "build", "tests", "bench_burgers_step")
peer = os.path.join(folder, "burgers_step.py")
arguments = ["--threads", str(options.threads), "--steps", str(options.steps)]


def measure(command):
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    result = subprocess.run(command + arguments, capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stderr}")
    return json.loads(result.stdout.strip().splitlines()[-1])


def processor():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


cases = [(dtype, mode) for dtype in ("float32", "float64") for mode in options.modes]
rounds = {case: [] for case in cases}
for number in range(options.rounds):
    for dtype, mode in cases:
        us = measure([ours, "--precision", dtype])
        them = measure([sys.executable, peer, "--mode", mode, "--dtype", dtype])
        rounds[dtype, mode].append((us, them))
    print(f"round {number + 1} of {options.rounds} done", file=sys.stderr)

print(f"Burgers step, 2-20x8-1, 10,000 + 100 points, Adam; {options.threads} threads of {processor()}")
print(f"{rounds[cases[0]][0][1]['program']}")
print(f"{'type':8} {'PyTorch mode':13} {'ours ms':>9} {'PyTorch ms':>11} {'ratio':>7}   spread")
for case in cases:
    ratios = [them["median_ms"] / us["median_ms"] for us, them in rounds[case]]
    print(f"{case[0]:8} {case[1]:13} {statistics.median(us['median_ms'] for us, _ in rounds[case]):9.2f} "
          f"{statistics.median(them['median_ms'] for _, them in rounds[case]):11.2f} "
          f"{statistics.median(ratios):7.2f}   {min(ratios):.2f} to {max(ratios):.2f}")
if options.json:
    with open(options.json, "w") as file:
        json.dump({"processor": processor(), "threads": options.threads,
                   "rounds": {f"{d} {m}": r for (d, m), r in rounds.items()}}, file, indent=1)
