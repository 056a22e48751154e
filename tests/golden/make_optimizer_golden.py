#!/usr/bin/env python3
"""Writes tests/golden/optimizers.csv: parameter trajectories of PyTorch's optimizers.

One line is case,step,parameters... ; the objectives and settings are repeated in
tests/optim/golden_test.cpp. Needs PyTorch; run it from any folder.
"""
import pathlib
import sys

import torch


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def regression(theta):
    """Mean squared error of a 1-5-1 tanh network on 20 points of sin 3x."""
    hidden = theta.numel() // 3
    w, b, v = theta[:hidden], theta[hidden : 2 * hidden], theta[2 * hidden :]
    x = torch.linspace(-1, 1, 20, dtype=torch.float64).to(theta.dtype)
    out = (torch.tanh(x[:, None] * w + b) * v).sum(1)
    return ((out - torch.sin(3 * x)) ** 2).mean()


def rosenbrock_start(count):
    return torch.tensor([-1.2 if i % 2 == 0 else 1.0 for i in range(count)], dtype=torch.float64)


def regression_start(count):
    return torch.tensor([0.9 * ((7 * i) % 11 - 5) / 5 for i in range(count)], dtype=torch.float64)


def first_order(name, dtype, make, steps, clip=None):
    """Two parameter groups, [0, 3) and [3, 7), on the Rosenbrock function."""
    start = rosenbrock_start(7).to(dtype)
    parts = [start[:3].clone().requires_grad_(), start[3:].clone().requires_grad_()]
    optimizer = make(parts)
    for step in range(steps + 1):
        yield name, step, torch.cat([p.detach() for p in parts])
        optimizer.zero_grad()
        rosenbrock(torch.cat(parts)).backward()
        if clip:
            clip(parts)
        optimizer.step()


def clip_by_norm(limit):
    def clip(parts):
        norm = torch.cat([p.grad for p in parts]).double().norm().item()
        for p in parts:
            p.grad *= min(1.0, limit / norm)

    return clip


def clip_by_value(limit):
    return lambda parts: torch.nn.utils.clip_grad_value_(parts, limit)


def lbfgs(name, objective, start, iterations, history):
    x = start.clone().requires_grad_()
    optimizer = torch.optim.LBFGS(
        [x], lr=1, max_iter=1, max_eval=100, tolerance_grad=0, tolerance_change=0,
        history_size=history, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = objective(x)
        loss.backward()
        return loss

    for step in range(iterations + 1):
        yield name, step, x.detach().clone()
        optimizer.step(closure)


def cases():
    sgd, adam, adamw = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
    for suffix, dtype in (("64", torch.float64), ("32", torch.float32)):
        yield from first_order("sgd" + suffix, dtype, lambda p: sgd(p, lr=1e-4), 30)
        yield from first_order("sgd_momentum" + suffix, dtype, lambda p: sgd(
            p, lr=1e-4, momentum=0.9, dampening=0.3, weight_decay=0.1), 30)
        yield from first_order("sgd_nesterov" + suffix, dtype, lambda p: sgd(
            p, lr=1e-4, momentum=0.9, nesterov=True), 30)
        yield from first_order("adam" + suffix, dtype, lambda p: adam(
            p, lr=2e-2, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.05), 30)
        # The second group has no decay and half the learning rate.
        yield from first_order("adamw" + suffix, dtype, lambda p: adamw(
            [{"params": p[:1]}, {"params": p[1:], "weight_decay": 0.0, "lr": 1e-2}],
            lr=2e-2, weight_decay=0.3), 30)
        yield from first_order("clip_norm" + suffix, dtype, lambda p: sgd(p, lr=1e-3), 30,
                               clip_by_norm(20.0))
        yield from first_order("clip_value" + suffix, dtype, lambda p: sgd(p, lr=1e-3), 30,
                               clip_by_value(5.0))
    yield from lbfgs("lbfgs_rosenbrock", rosenbrock, rosenbrock_start(7), 30, 5)
    yield from lbfgs("lbfgs_regression", regression, regression_start(15), 40, 10)


def main():
    torch.set_num_threads(1)
    path = pathlib.Path(__file__).parent / "optimizers.csv"
    with open(path, "w") as file:
        for name, step, values in cases():
            if name.startswith("lbfgs") or step % 10 == 0 or step in (1, 2):
                print(name, step, *(repr(v) for v in values.tolist()), sep=",", file=file)
    print(f"wrote {path} with PyTorch {torch.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()
