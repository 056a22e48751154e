#!/usr/bin/env python3
"""Times single operations, layers and optimizer updates in PyTorch: the cases of bench_operations; one line of JSON,
{name: microseconds}.   usage: peer_operations.py [FIRST_WORDS_OF_NAMES…]

`plain` runs in inference mode, `recorded` with a graph. The Adam is the fused one, both optimizers have one flat
parameter, and L-BFGS no line search: PyTorch's fastest settings. What is computed is deleted at once, as in ours.
"""
import itertools
import json
import statistics
import sys
import time

import torch

WANTED = sys.argv[1:]
results = {}


def wants(name):
    return not WANTED or any(name.startswith(word) or word.startswith(name) for word in WANTED)


def measure(name, f):
    """The median of batches that last long enough for the clock, 0.3 seconds of them and at least five."""
    if not wants(name):
        return

    def batch(calls):
        start = time.perf_counter()
        for _ in itertools.repeat(None, calls):
            f()
        return time.perf_counter() - start

    batch(3)
    calls = 1
    while batch(calls) < 1e-3:
        calls *= 2
    times = []
    while sum(times) < 0.3 or len(times) < 5:
        times.append(batch(calls))
    results[name] = statistics.median(times) / calls * 1e6


def elementwise():
    operations = {"sin": torch.sin, "tanh": torch.tanh, "exp": torch.exp, "gelu": torch.nn.functional.gelu,
                  "sum": torch.sum, "softmax": lambda x: torch.softmax(x, 0)}
    for size in (1000, 100_000, 10_000_000):
        x = torch.randn(size)
        leaf = x.clone().requires_grad_()
        for name, operation in operations.items():
            with torch.inference_mode():
                measure(f"plain/{name}/{size}", lambda: operation(x))
            measure(f"recorded/{name}/{size}", lambda: operation(leaf))


def products():
    for rows, width in ((65_536, 256), (16_384, 256), (16_384, 768)):
        a, b = torch.randn(rows, width), torch.randn(width, width)
        with torch.inference_mode():
            measure(f"product/{rows}x{width}x{width}", lambda: a @ b)


def layers():
    for width in (256, 768):
        layer = torch.nn.Linear(width, width)
        x, weight = torch.randn(16_384, width), torch.randn(16_384, width)
        with torch.inference_mode():
            measure(f"layer/{width}/dense/forward", lambda: torch.tanh(layer(x)))
        leaf = x.clone().requires_grad_()
        inputs = [leaf, *layer.parameters()]
        measure(f"layer/{width}/dense/forward_backward",
                lambda: torch.autograd.grad(torch.tanh(layer(leaf)), inputs, weight))


def updates():
    count = 1_000_000
    parameter = torch.nn.Parameter(torch.randn(count))
    parameter.grad = torch.randn(count)
    adam = torch.optim.Adam([parameter], fused=True)
    measure("update/adam", adam.step)

    curvature = torch.exp(-12 * torch.rand(count))
    position = torch.nn.Parameter(torch.randn(count))
    lbfgs = torch.optim.LBFGS([position], lr=1, max_iter=1, history_size=50, tolerance_grad=0, tolerance_change=0)

    def evaluate():
        position.grad = position.detach() * curvature
        return 0.5 * torch.dot(position.detach(), position.grad)

    if wants("update/lbfgs"):
        for _ in range(60):
            lbfgs.step(evaluate)
    measure("update/lbfgs", lambda: lbfgs.step(evaluate))


elementwise()
products()
layers()
updates()
print(json.dumps(results))
