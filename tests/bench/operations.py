#!/usr/bin/env python3
"""Single operations, matrix products, layers and optimizer updates beside PyTorch. Cases are chosen by the first words
of their names, such as plain/sin, recorded, layer/256 or update.
"""
import argparse
import collections
import sys

import side_by_side


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="first words of names; default: all")
    side_by_side.add_options(parser)
    options = parser.parse_args()

    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for number in range(options.rounds):
        for results, command in ((ours, [side_by_side.program("bench_operations")]),
                                 (theirs, side_by_side.peer("peer_operations.py"))):
            for name, time in side_by_side.measure([*command, *options.cases], options.threads).items():
                results[name].append(time)
        print(f"operations: round {number + 1} of {options.rounds} done", file=sys.stderr)
    if not ours:
        parser.error("no case has such a name")

    print(f"{options.threads} threads of {side_by_side.processor()}, float32")
    print(f"{'work':40} {'ours us':>10} {'PyTorch us':>11} {'ratio':>7}   spread")
    for name in [name for name in theirs if name in ours]:
        us, them, ratio, spread = side_by_side.summary(ours[name], theirs[name])
        print(f"{name:40} {us:10.2f} {them:11.2f} {ratio:7.2f}   {spread}")
    print_layers(ours)
    side_by_side.write_json(options, ours=ours, theirs=theirs)


def print_layers(ours):
    """Our layers that PyTorch has not, beside our dense one."""
    layers = [name for name in ours if name.startswith("layer/") and "/dense/" not in name]
    work = {name.rsplit("/", 1)[0]: times[0] for name, times in ours.items() if name.endswith("/multiply_adds")}
    if layers:
        print(f"{'layer':40} {'ours us':>10} {'dense us':>11} {'share of time':>14} {'of multiply-adds':>17}   spread")
    for name in layers:
        layer, direction = name.rsplit("/", 1)
        if direction == "multiply_adds":
            continue
        dense = layer.rsplit("/", 1)[0] + "/dense"
        if dense not in work:  # left out by the names asked for
            continue
        dense_us, us, share, spread = side_by_side.summary(ours[f"{dense}/{direction}"], ours[name])
        print(f"{name:40} {us:10.0f} {dense_us:11.0f} {share:14.2f} {work[layer] / work[dense]:17.2f}   {spread}")


main()
