#!/usr/bin/env python3
"""Times one training step of a PINN on Burgers' equation in PyTorch, on the CPU.

Network 2-20x8-1 with tanh, 10,000 residual points and 100 initial and boundary points, loss = mean
squared residual + mean squared boundary error, Adam: the step of Raissi et al. (2019). Modes:

  nested   derivatives by nested torch.autograd.grad: how PINNs are written in PyTorch
  taylor   the channels u, u_x, u_t, u_xx propagated forward by hand, one reverse pass
  compile  taylor through torch.compile

Prints one line of JSON. PyTorch is installed by tests/bench/install_peers.
"""
import argparse
import json
import math
import os
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument("--mode", choices=("nested", "taylor", "compile"), default="nested")
parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--steps", type=int, default=50, help="timed steps")
parser.add_argument("--warmup", type=int, default=10, help="steps before them")
parser.add_argument("--residual-points", type=int, default=10000)
parser.add_argument("--boundary-points", type=int, default=100)
parser.add_argument("--width", type=int, default=20)
parser.add_argument("--layers", type=int, default=8, help="hidden layers")
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()

# Read when the libraries are loaded.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(options.threads)

import torch  # noqa: E402

torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)
torch.set_default_dtype(getattr(torch, options.dtype))

viscosity = 0.01 / math.pi


def latin_hypercube(count):
    """x in [-1, 1] and t in [0, 1], one point in each of `count` slices of both."""
    columns = [(torch.randperm(count) + torch.rand(count)) / count for _ in range(2)]
    return torch.stack((2 * columns[0] - 1, columns[1]), dim=1)


def boundary(count):
    """Half of the points at t = 0 with u = -sin(pi x), a quarter each at x = -1 and 1 with u = 0."""
    initial, side = count // 2, count // 4
    x = torch.cat((2 * torch.rand(initial) - 1, -torch.ones(side), torch.ones(count - initial - side)))
    t = torch.cat((torch.zeros(initial), torch.rand(count - initial)))
    u = torch.where(t == 0, -torch.sin(math.pi * x), torch.zeros(()))
    return torch.stack((x, t), dim=1), u[:, None]


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [2] + [options.width] * options.layers + [1]
        self.layers = torch.nn.ModuleList(
            torch.nn.Linear(before, after) for before, after in zip(sizes, sizes[1:]))
        for layer in self.layers:
            torch.nn.init.xavier_normal_(layer.weight)
            torch.nn.init.zeros_(layer.bias)

    def forward(self, points):
        h = points * points.new_tensor([1.0, 2.0]) - points.new_tensor([0.0, 1.0])
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h)

    def taylor(self, points):
        """u, u_x, u_t, u_xx, each [points, 1]."""
        count = points.shape[0]
        value = points * points.new_tensor([1.0, 2.0]) - points.new_tensor([0.0, 1.0])
        along_x = points.new_tensor([1.0, 0.0]).expand(count, 2)
        along_t = points.new_tensor([0.0, 2.0]).expand(count, 2)
        channels = torch.stack((value, along_x, along_t, torch.zeros_like(value)))
        for layer in self.layers[:-1]:
            a = channels.flatten(0, 1).mm(layer.weight.t()).view(4, count, -1)
            y = torch.tanh(a[0] + layer.bias)
            slope = 1 - y * y
            channels = torch.stack((
                y, slope * a[1], slope * a[2], slope * (a[3] - 2 * y * a[1] * a[1])))
        last = self.layers[-1]
        out = channels.flatten(0, 1).mm(last.weight.t()).view(4, count, 1)
        return out[0] + last.bias, out[1], out[2], out[3]


def gradient(of, at):
    return torch.autograd.grad(of, at, torch.ones_like(of), create_graph=True)[0]


def nested_derivatives(network, x, t):
    u = network(torch.cat((x, t), dim=1))
    u_x = gradient(u, x)
    return u, u_x, gradient(u, t), gradient(u_x, x)


def main():
    network = Network()
    points = latin_hypercube(options.residual_points)
    edge_points, edge_values = boundary(options.boundary_points)
    x = points[:, :1].clone().requires_grad_(options.mode == "nested")
    t = points[:, 1:].clone().requires_grad_(options.mode == "nested")
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)

    def loss_of():
        if options.mode == "nested":
            u, u_x, u_t, u_xx = nested_derivatives(network, x, t)
        else:
            u, u_x, u_t, u_xx = network.taylor(points)
        residual = u_t + u * u_x - viscosity * u_xx
        edge = network(edge_points) - edge_values
        return (residual * residual).mean() + (edge * edge).mean()

    compiled = torch.compile(loss_of) if options.mode == "compile" else loss_of

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = compiled()
        loss.backward()
        optimizer.step()
        return loss.item()

    losses, milliseconds = [], []
    for index in range(options.warmup + options.steps):
        start = time.perf_counter()
        losses.append(step())
        if index >= options.warmup:
            milliseconds.append(1e3 * (time.perf_counter() - start))
    milliseconds.sort()
    print(json.dumps({
        "program": "torch " + torch.__version__,
        "mode": options.mode,
        "dtype": options.dtype,
        "threads": options.threads,
        "steps": options.steps,
        "median_ms": round(milliseconds[len(milliseconds) // 2], 4),
        "min_ms": round(milliseconds[0], 4),
        "first_loss": losses[0],
        "last_loss": losses[-1],
    }))


if __name__ == "__main__":
    main()
