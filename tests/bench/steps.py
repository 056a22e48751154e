#!/usr/bin/env python3
"""Training steps beside PyTorch. `evaluation` counts the time of a line search per evaluation of the loss, so that
neither gains by evaluating less.
"""
import argparse
import collections
import os
import statistics
import sys

import side_by_side

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


def our_step(case, threads):
    config = os.path.join(side_by_side.FOLDER, "work", case.work + ".yaml")
    return side_by_side.measure([side_by_side.program("bench_train_step"), config, f"precision={case.precision}",
                                 f"threads={threads}", *case.ours, "--steps", str(case.steps)], threads)


def peer_step(case, mode, threads):
    return side_by_side.measure([*side_by_side.peer("peer_step.py"), case.work, "--mode", mode, "--dtype",
                                 case.precision, "--threads", str(threads), "--steps", str(case.steps), "--warmup",
                                 "5", *case.peer], threads)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    names = [case.name for case in CASES]
    parser.add_argument("cases", nargs="*", metavar="CASE", default=names, help=f"of {', '.join(names)}; default: all")
    parser.add_argument("--modes", nargs="+", help="of PyTorch, see peer_step.py; compile takes minutes to start")
    side_by_side.add_options(parser)
    options = parser.parse_args()
    if unknown := set(options.cases) - set(names):
        parser.error("no such case: " + ", ".join(sorted(unknown)))
    chosen = [(case, mode) for case in CASES if case.name in options.cases
              for mode in case.peer_modes if not options.modes or mode in options.modes]
    if not chosen:
        parser.error("none of these cases has such a mode")

    rounds = collections.defaultdict(list)
    for number in range(options.rounds):
        for case, mode in chosen:
            rounds[case.name, mode].append((our_step(case, options.threads), peer_step(case, mode, options.threads)))
        print(f"steps: round {number + 1} of {options.rounds} done", file=sys.stderr)

    peer_name = rounds[chosen[0][0].name, chosen[0][1]][0][1]["program"]
    print(f"{peer_name}, {options.threads} threads of {side_by_side.processor()}")
    print(f"{'work':15} {'type':8} {'PyTorch mode':14} {'ours ms':>9} {'PyTorch ms':>11} {'ratio':>7}   {'spread':14} "
          f"{'our MB':>7} {'their MB':>9}")
    for case, mode in chosen:
        pairs = rounds[case.name, mode]
        ours, theirs, ratio, spread = side_by_side.summary([us[case.figure] for us, _ in pairs],
                                                           [them[case.figure] for _, them in pairs])
        memory = [statistics.median(pair[i]["resident_bytes"] for pair in pairs) / 1e6 for i in (0, 1)]
        print(f"{case.name:15} {case.precision:8} {mode:14} {ours:9.2f} {theirs:11.2f} {ratio:7.2f}   {spread:14} "
              f"{memory[0]:7.0f} {memory[1]:9.0f}")
    side_by_side.write_json(options, rounds={f"{name} {mode}": pairs for (name, mode), pairs in rounds.items()})


main()
