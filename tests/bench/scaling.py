#!/usr/bin/env python3
"""How our own step of Burgers' equation scales: time per point over the number of points, gain by threads, and the start
of the program. Nothing of PyTorch runs.
"""
import argparse
import collections
import os
import statistics
import sys
import time

import side_by_side

POINTS = [1_000, 10_000, 100_000, 1_000_000]


def step_ms(points, threads):
    config = os.path.join(side_by_side.FOLDER, "work", "burgers.yaml")
    steps = max(3, min(40, 1_000_000 // points))
    return side_by_side.measure([side_by_side.program("bench_train_step"), config, f"points.residual={points}",
                                 f"threads={threads}", "--steps", str(steps)], threads)["median_ms"]


def start_ms(threads):
    """The whole program up to its first loss and gradient of 10,000 points."""
    config = os.path.join(side_by_side.FOLDER, "work", "burgers.yaml")
    program = os.path.join(side_by_side.BUILD, "ralimp")
    before = time.perf_counter()
    side_by_side.run([program, "train", config, "--check"], threads)
    return (time.perf_counter() - before) * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    side_by_side.add_options(parser)
    options = parser.parse_args()
    counts = sorted({1, options.threads})
    times, starts = collections.defaultdict(list), []
    for number in range(options.rounds):
        for points in POINTS:
            for threads in counts:
                times[points, threads].append(step_ms(points, threads))
        starts.append(start_ms(options.threads))
        print(f"scaling: round {number + 1} of {options.rounds} done", file=sys.stderr)

    print(f"{side_by_side.processor()}, float32")
    print(f"{'points':>10} {'threads':>8} {'step ms':>10} {'ns per point':>13} {'efficiency':>11}   spread")
    for (points, threads), milliseconds in times.items():
        efficiencies = [one / many / threads for one, many in zip(times[points, 1], milliseconds)]
        middle = statistics.median(milliseconds)
        print(f"{points:10} {threads:8} {middle:10.2f} {middle / points * 1e6:13.0f} "
              f"{statistics.median(efficiencies):11.2f}   {min(efficiencies):.2f} to {max(efficiencies):.2f}")
    print(f"the program from its start to its first gradient of 10,000 points: {statistics.median(starts):.0f} ms")
    side_by_side.write_json(options, starts=starts, times={f"{p} {t}": values for (p, t), values in times.items()})


main()
