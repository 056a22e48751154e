#!/usr/bin/env python3
"""Times the cases of bench_kernels in PyTorch and prints both side by side.

usage: kernels.py BENCH_KERNELS [FILTER]     (tests/bench/install_peers installs PyTorch)
Both use the threads of OMP_NUM_THREADS or all cores. ratio: PyTorch's time by ours; above 1 we are
faster.
"""
import subprocess
import sys
import time

import torch


def microseconds(f):
    def seconds(runs):
        start = time.perf_counter()
        for _ in range(runs):
            f()
        return time.perf_counter() - start

    f()
    runs = 1
    while seconds(runs) < 1e-3:
        runs *= 2
    times = []
    while sum(times) < 0.15 or len(times) < 5:
        times.append(seconds(runs))
    return min(times) / runs * 1e6


def elementwise(size, dtype):
    x, y = torch.randn(size, dtype=dtype), torch.randn(size, dtype=dtype)
    p = x.square()
    condition = x < y
    other = torch.float64 if dtype == torch.float32 else torch.float32
    functions = torch.nn.functional
    cases = {name: (lambda f=getattr(torch, name): f(x)) for name in
             "neg square relu exp expm1 reciprocal sin cos sinh tanh erf sigmoid".split()}
    cases |= {name: (lambda f=getattr(torch, name): f(p)) for name in "log log1p sqrt rsqrt".split()}
    cases |= {
        "softplus": lambda: functions.softplus(x),
        "gelu": lambda: functions.gelu(x),
        "add": lambda: x + y,
        "multiply": lambda: x * y,
        "divide": lambda: x / y,
        "maximum": lambda: torch.maximum(x, y),
        "power": lambda: torch.pow(p, y),
        "less": lambda: x < y,
        "where": lambda: torch.where(condition, x, y),
        "copy": lambda: x.clone(),
        "convert": lambda: x.to(other),
        "fill": lambda: torch.full((size,), 3.0, dtype=dtype),
        "cumulative_sum": lambda: torch.cumsum(x, 0),
        "argsort": lambda: torch.argsort(x, stable=True),
        "uniform": lambda: torch.rand(size, dtype=dtype),
        "normal": lambda: torch.randn(size, dtype=dtype),
        "sum": lambda: x.sum(),
        "max": lambda: x.amax(),
        "argmax": lambda: x.argmax(),
    }
    return cases


def all_cases():
    for dtype in (torch.float32, torch.float64):
        name = str(dtype).split(".")[1]
        for size in (1000, 100_000, 1_000_000):
            for case, f in elementwise(size, dtype).items():
                yield f"{case}/{name}/{size}", f
        rows, row = torch.randn(40_000, 20, dtype=dtype), torch.randn(20, dtype=dtype)
        square = torch.randn(1000, 1000, dtype=dtype)
        index = torch.randint(10_000, (40_000,))
        table = torch.randn(10_000, 20, dtype=dtype)
        yield f"add/{name}/40000x20+20", lambda: rows + row
        yield f"sum/{name}/40000x20-down", lambda: rows.sum(0)
        yield f"sum/{name}/40000x20-along", lambda: rows.sum(1)
        yield f"sum/{name}/1000x1000-down", lambda: square.sum(0)
        yield f"sum/{name}/1000x1000-along", lambda: square.sum(1)
        yield f"transpose/{name}/1000x1000", lambda: square.t().contiguous()
        yield f"transpose/{name}/40000x20", lambda: rows.t().contiguous()
        yield f"index_select/{name}/10000x20", lambda: table.index_select(0, index)
        yield f"index_add/{name}/10000x20", lambda: table.index_add_(0, index, rows)
        for m, n, k in ((100, 20, 20), (1000, 20, 2), (1000, 20, 20), (10_000, 20, 20),
                        (10_000, 64, 64), (10_000, 1, 20), (256, 256, 256), (1000, 1000, 1000),
                        (1, 1000, 1000), (1000, 1, 1000)):
            a, b = torch.randn(m, k, dtype=dtype), torch.randn(k, n, dtype=dtype)
            g = torch.randn(m, n, dtype=dtype)
            yield f"matmul/{name}/{m}x{n}x{k}", lambda: a @ b
            yield f"matmul_nt/{name}/{m}x{n}x{k}", lambda: g @ b.t()
            yield f"matmul_tn/{name}/{m}x{n}x{k}", lambda: a.t() @ g
        a, b = torch.randn(500, 20, 20, dtype=dtype), torch.randn(500, 20, 20, dtype=dtype)
        yield f"matmul_batch/{name}/500x20x20x20", lambda: a @ b
        a, b = torch.randn(16, 256, 64, dtype=dtype), torch.randn(16, 64, 256, dtype=dtype)
        yield f"matmul_batch/{name}/16x256x64x256", lambda: a @ b


def main():
    arguments = sys.argv[1:]
    text_filter = arguments[1] if len(arguments) > 1 else ""
    ours = dict(line.split() for line in subprocess.run(
        arguments, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads", file=sys.stderr)
    print(f"{'case':40} {'ours us':>10} {'torch us':>10} {'ratio':>7}")
    with torch.no_grad():
        for case, f in all_cases():
            if text_filter in case:
                own, peer = float(ours[case]), microseconds(f)
                print(f"{case:40} {own:10.2f} {peer:10.2f} {peer / own:7.2f}", flush=True)


if __name__ == "__main__":
    main()
