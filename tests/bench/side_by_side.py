"""What the comparisons share: pinned processes of ours and theirs in turn, so that both see the same machine, and ratios
of the same round. A ratio is PyTorch's time divided by ours: above 1 we are faster. Quoted: the median over the rounds
and, as spread, the smallest and largest.
"""
import json
import os
import statistics
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(FOLDER, "..", "..", "build")


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", metavar="FILE", help="write everything measured to this file")


def program(name):
    return os.path.join(BUILD, "tests", name)


def peer(name):
    return [sys.executable, os.path.join(FOLDER, name)]


def run(command, threads):
    """Runs a program on the first `threads` of our cores and returns what it printed."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    cores = sorted(os.sched_getaffinity(0))[:threads]
    result = subprocess.run(["taskset", "--cpu-list", ",".join(map(str, cores)), *command],
                            capture_output=True, text=True, env=environment)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stderr}")
    return result.stdout


def measure(command, threads):
    """The JSON object that a benchmark prints last."""
    return json.loads(run(command, threads).strip().splitlines()[-1])


def processor():
    with open("/proc/cpuinfo") as file:
        return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))


def summary(ours, theirs):
    """Median of ours, of theirs, of the ratio, and its spread as text; the lists are of the same rounds."""
    ratios = [them / us for us, them in zip(ours, theirs)]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return statistics.median(ours), statistics.median(theirs), statistics.median(ratios), spread


def write_json(options, **results):
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"processor": processor(), "threads": options.threads, **results}, file, indent=1)
