#!/usr/bin/env python3
"""Writes tests/golden/optimizers.csv: parameter trajectories of PyTorch's optimizers, and of SOAP
written in PyTorch.

One line is case,step,parameters... ; the objectives and settings are repeated in
tests/optim/golden_test.cpp. Needs PyTorch; run it from any folder.
"""
import math
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


# Sides that differ by one at most, unless the longer one is above max_side: after the first gradient
# the preconditioner then has no eigenvalue twice (0 once at most), so its eigenvectors are unique.
SOAP_SHAPES = ((5, 4), (7,), (3, 4), (2, 9), (1, 1), (4, 4), (2, 2, 2))


def soap(name, steps, lr, beta1, beta2, eps, weight_decay, shampoo_beta, every, max_side,
         clip=None):
    """Vyas et al. (2024), Algorithms 3 and 4, written from the paper: the first moment stays in the
    parameters' axes. As in the authors' program, the first step moves nothing. A separable quadratic
    of parameters [count], cut into SOAP_SHAPES; decay leaves out all but matrices of two axes."""
    sizes = [math.prod(shape) for shape in SOAP_SHAPES]
    index = torch.arange(sum(sizes), dtype=torch.float64)
    curvature = 0.5 + (7 * index) % 11 / 5
    x = torch.zeros_like(index)
    states = [None] * len(sizes)

    def rotate(matrix, bases):
        left, right = bases
        matrix = matrix if left is None else left.T @ matrix
        return matrix if right is None else matrix @ right

    def rotate_back(matrix, bases):
        left, right = bases
        matrix = matrix if left is None else left @ matrix
        return matrix if right is None else matrix @ right.T

    for step in range(steps + 1):
        yield name, step, x.clone()
        # Moves with the steps: the first two gradients would be the same else, and the second have
        # rounding errors alone along the eigenvalue 0.
        target = ((5 * index) % 13 - 6) / 4 + torch.sin((step + 1) * (index + 1))
        gradient = curvature * (x - target)
        if clip:
            gradient = gradient * min(1.0, clip[0] / gradient.norm().item())
            gradient = gradient.clamp(-clip[1], clip[1])
        parts = zip(SOAP_SHAPES, x.split(sizes), gradient.split(sizes))
        for number, (shape, w, g) in enumerate(parts):
            is_matrix = len(shape) == 2
            w, g = w.view(shape), g.view(shape)
            if states[number] is None:
                state = states[number] = {"M": torch.zeros_like(g), "V": torch.zeros_like(g),
                                          "P": [None, None], "Q": [None, None]}
                if is_matrix:
                    for side, outer in enumerate((g @ g.T, g.T @ g)):
                        if shape[side] <= max_side:
                            state["P"][side] = (1 - shampoo_beta) * outer
                            vectors = torch.linalg.eigh(state["P"][side])[1]
                            state["Q"][side] = vectors.flip(1)
                continue
            state = states[number]
            M, V, P, Q = (state[key] for key in "MVPQ")
            rotated = rotate(g, Q)
            M.mul_(beta1).add_((1 - beta1) * g)
            V.mul_(beta2).add_((1 - beta2) * rotated**2)
            M_hat = rotate(M, Q) / (1 - beta1**step)
            V_hat = V / (1 - beta2**step)
            change = rotate_back(M_hat / (V_hat.sqrt() + eps), Q)
            if is_matrix:
                w.mul_(1 - lr * weight_decay)
            w.sub_(lr * change)
            for side in range(2):
                if P[side] is None:
                    continue
                outer = g @ g.T if side == 0 else g.T @ g
                P[side].mul_(shampoo_beta).add_((1 - shampoo_beta) * outer)
                if step % every == 0:
                    eigenvalues = torch.diag(Q[side].T @ P[side] @ Q[side])
                    order = torch.argsort(eigenvalues, descending=True)
                    state["V"] = state["V"].index_select(side, order)
                    Q[side] = torch.linalg.qr(P[side] @ Q[side][:, order])[0]


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
    yield from soap("soap", 40, 3e-2, 0.9, 0.95, 1e-8, 0.0, 0.95, 3, 8)
    yield from soap("soap_settings", 40, 2e-2, 0.8, 0.99, 1e-4, 0.3, 0.7, 4, 4, clip=(6.0, 1.1))
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
