#!/usr/bin/env python3
"""Times one training step in PyTorch, on the CPU: the work of bench_train_step with a config of tests/bench/work.

Work:
  burgers         2-20x8-1 tanh, 10,000 residual and 100 condition points (Raissi et al. 2019)
  kdv             the same with a third derivative
  burgers_ralimp  2-20, three RaLiMP layers 20-20 (real input, 6 features, degree 2), linear
  siren           a network 2-256x4-1 of sines on 256 x 256 pixels
Modes:
  nested   derivatives by nested torch.autograd.grad: how PINNs are written in PyTorch
  func     derivatives by nested torch.func.jvp in forward mode, for all points at once
  compile  func (of siren: the plain step) through torch.compile
  taylor   the channels u, u_x, u_t, u_xx (u_xxx) propagated forward by hand, one reverse pass
  taylor_compile  taylor through torch.compile
siren has no derivatives: nested is the plain step. Prints one line of JSON. PyTorch is installed by
tests/bench/install_peers.
"""
import argparse
import json
import math
import os
import resource
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("work", choices=("burgers", "kdv", "burgers_ralimp", "siren"))
parser.add_argument("--mode", choices=("nested", "func", "compile", "taylor", "taylor_compile"), default="nested")
parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
parser.add_argument("--optimizer", choices=("adam", "lbfgs"), default="adam")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--steps", type=int, default=50, help="timed steps (L-BFGS: iterations)")
parser.add_argument("--warmup", type=int, default=10, help="steps before them")
parser.add_argument("--points", type=int, default=10000)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

# Read when the libraries are loaded.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(options.threads)

import torch  # noqa: E402

torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)
torch.set_default_dtype(getattr(torch, options.dtype))


def latin_hypercube(count):
    """x in [-1, 1] and t in [0, 1], one point in each of `count` slices of both."""
    columns = [(torch.randperm(count) + torch.rand(count)) / count for _ in range(2)]
    return torch.stack((2 * columns[0] - 1, columns[1]), dim=1)


def conditions(count, initial, edge):
    """Half of the points at t = 0, the others at x = -1 and 1."""
    start = count // 2
    x = torch.cat((2 * torch.rand(start) - 1, 2.0 * (torch.arange(count - start) % 2) - 1))
    t = torch.cat((torch.zeros(start), torch.rand(count - start)))
    u = torch.where(t == 0, initial(x), torch.full((), edge))
    return torch.stack((x, t), dim=1), u[:, None]


def dense(before, after):
    layer = torch.nn.Linear(before, after)
    torch.nn.init.xavier_uniform_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    return layer


class Network(torch.nn.Module):
    """Inputs scaled to [-1, 1], then tanh layers and a linear one."""

    def __init__(self, width=20, hidden=8):
        super().__init__()
        sizes = [2] + [width] * hidden + [1]
        self.layers = torch.nn.ModuleList(dense(a, b) for a, b in zip(sizes, sizes[1:]))
        self.register_buffer("scale", torch.tensor([1.0, 2.0]))
        self.register_buffer("shift", torch.tensor([0.0, 1.0]))

    def forward(self, points):
        h = points * self.scale - self.shift
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h)

    def taylor(self, points, third):
        """u, u_x, u_t, u_xx and with `third` u_xxx, each [points, 1]."""
        count = points.shape[0]
        zero = torch.zeros_like(points)
        directions = self.scale * torch.eye(2)
        channels = [points * self.scale - self.shift, directions[0].expand(count, 2),
                    directions[1].expand(count, 2), zero] + [zero] * third
        channels = torch.stack(channels)
        for layer in self.layers[:-1]:
            a = channels.flatten(0, 1).mm(layer.weight.t()).view(len(channels), count, -1)
            y = torch.tanh(a[0] + layer.bias)
            first = 1 - y * y
            second = -2 * y * first
            parts = [y, first * a[1], first * a[2], first * a[3] + second * a[1] * a[1]]
            if third:
                parts.append(first * a[4] + 3 * second * a[1] * a[3] +
                             (4 * y * y - 2 * first) * first * a[1] ** 3)
            channels = torch.stack(parts)
        last = self.layers[-1]
        out = channels.flatten(0, 1).mm(last.weight.t()).view(len(channels), count, 1)
        return (out[0] + last.bias, *out[1:])


class Ralimp(torch.nn.Module):
    """The layer of layers/ralimp.cpp with free psi, real input, degree 2 and shared rows."""

    def __init__(self, inputs, outputs, features=6, waves=3):
        super().__init__()
        self.features = features
        count = 2 * waves * features + 2 * features
        self.rows = torch.nn.Parameter(torch.randn(3 * features, inputs) / math.sqrt(inputs))
        self.row_bias = torch.nn.Parameter(torch.zeros(3 * features))
        self.psi = torch.nn.Parameter(torch.randn(outputs, count) / math.sqrt(count))
        self.psi_bias = torch.nn.Parameter(torch.zeros(outputs))
        self.register_buffer("frequencies", torch.tensor([0.3, 1.2, 2.5])[:waves])
        self.register_buffer("mean", torch.ones(count))
        self.register_buffer("inverse", torch.ones(count))

    def forward(self, x):
        p = torch.nn.functional.linear(x, self.rows, self.row_bias)
        rational, first, second = p.split(self.features, dim=1)
        norm = (x * x).sum(1, keepdim=True)
        parts = []
        for s in self.frequencies:
            exponent = torch.sqrt(s) * rational
            level = -0.5 * s * norm
            parts += [torch.exp(level + exponent), torch.exp(level - exponent)]
        values = torch.cat(parts + [first, first * second], dim=1)
        return torch.nn.functional.linear((values - self.mean) * self.inverse, self.psi, self.psi_bias)


class RalimpNetwork(Network):
    def __init__(self, width=20, ralimp=3):
        super().__init__(width, 1)
        self.middle = torch.nn.ModuleList(Ralimp(width, width) for _ in range(ralimp))

    def forward(self, points):
        h = torch.tanh(self.layers[0](points * self.scale - self.shift))
        for layer in self.middle:
            h = layer(h)
        return self.layers[1](h)


class Sines(torch.nn.Module):
    def __init__(self, width=256, hidden=4):
        super().__init__()
        sizes = [2] + [width] * hidden + [1]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        for index, layer in enumerate(self.layers):
            bound = 1 / 2 if index == 0 else math.sqrt(6 / width) / 30
            torch.nn.init.uniform_(layer.weight, -bound, bound)

    def forward(self, h):
        for layer in self.layers[:-1]:
            h = torch.sin(30 * layer(h))
        return self.layers[-1](h)


def gradient(of, at):
    return torch.autograd.grad(of, at, torch.ones_like(of), create_graph=True)[0]


def by_nested_reverse_mode(network, x, t, third):
    u = network(torch.cat((x, t), dim=1))
    u_x = gradient(u, x)
    u_xx = gradient(u_x, x)
    return (u, u_x, gradient(u, t), u_xx) + ((gradient(u_xx, x),) if third else ())


def by_forward_mode(network, x, t, third):
    one = torch.ones_like(x)

    def u(x, t):
        return network(torch.cat((x, t), dim=1))

    def u_x(x):
        return torch.func.jvp(lambda x: u(x, t), (x,), (one,))[1]

    def u_xx(x):
        return torch.func.jvp(u_x, (x,), (one,))[1]

    value, in_t = torch.func.jvp(lambda t: u(x, t), (t,), (one,))
    first, second = torch.func.jvp(u_x, (x,), (one,))
    last = (torch.func.jvp(u_xx, (x,), (one,))[1],) if third else ()
    return (value, first, in_t, second) + last


def pinn_loss():
    third = options.work == "kdv"
    network = RalimpNetwork() if options.work == "burgers_ralimp" else Network()
    points = latin_hypercube(options.points)
    if third:
        edge_points, edge_values = conditions(100, lambda x: torch.cos(math.pi * x), -1.0)
    else:
        edge_points, edge_values = conditions(100, lambda x: -torch.sin(math.pi * x), 0.0)
    x = points[:, :1].clone().requires_grad_(options.mode == "nested")
    t = points[:, 1:].clone().requires_grad_(options.mode == "nested")

    def loss():
        if options.mode.startswith("taylor"):
            u, u_x, u_t, *rest = network.taylor(points, third)
        elif options.mode == "nested":
            u, u_x, u_t, *rest = by_nested_reverse_mode(network, x, t, third)
        else:
            u, u_x, u_t, *rest = by_forward_mode(network, x, t, third)
        residual = u_t + u * u_x + (0.0025 * rest[1] if third else -0.01 / math.pi * rest[0])
        edge = network(edge_points) - edge_values
        half = len(edge) // 2
        return (residual * residual).mean() + (edge[:half] ** 2).mean() + (edge[half:] ** 2).mean()

    return network, loss


def siren_loss():
    network = Sines()
    axis = torch.linspace(-1, 1, 256)
    points = torch.cartesian_prod(axis, axis)
    values = torch.sin(9 * points[:, :1]) * torch.cos(7 * points[:, 1:])
    return network, lambda: ((network(points) - values) ** 2).mean()


def main():
    network, loss_of = siren_loss() if options.work == "siren" else pinn_loss()
    compiled = torch.compile(loss_of) if options.mode.endswith("compile") else loss_of
    evaluations = 0
    if options.optimizer == "adam":
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
    else:
        optimizer = torch.optim.LBFGS(network.parameters(), lr=1, max_iter=1, max_eval=25, tolerance_grad=0,
                                      tolerance_change=0, history_size=50, line_search_fn="strong_wolfe")

    def closure():
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad(set_to_none=True)
        loss = compiled()
        loss.backward()
        return loss

    def step():
        if options.optimizer == "lbfgs":
            return optimizer.step(closure).item()
        loss = closure()
        optimizer.step()
        return loss.item()

    losses, milliseconds = [], []
    for index in range(options.warmup + options.steps):
        if index == options.warmup:
            evaluations = 0
        start = time.perf_counter()
        losses.append(step())
        if index >= options.warmup:
            milliseconds.append(1e3 * (time.perf_counter() - start))
    total = sum(milliseconds)
    milliseconds.sort()
    print(json.dumps({
        "program": "PyTorch " + torch.__version__,
        "median_ms": round(milliseconds[len(milliseconds) // 2], 4),
        "min_ms": round(milliseconds[0], 4),
        "evaluation_ms": round(total / evaluations, 4),
        "steps": options.steps,
        "evaluations": evaluations,
        "resident_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "loss": losses[-1],
    }))


if __name__ == "__main__":
    main()
