"""Writes autograd.csv: losses and gradients of composite models, computed by PyTorch in float64.

Run from the root of the repository: python tests/golden/make_autograd_golden.py
The inputs are closed forms (see `wave`), so that the test builds the same ones.
"""

import os

import torch
from torch.nn import functional

torch.set_default_dtype(torch.float64)
rows = []


def wave(phase, *shape):
    count = 1
    for size in shape:
        count *= size
    index = torch.arange(count, dtype=torch.float64)
    return torch.sin(0.7 * index + phase).reshape(shape).requires_grad_()


def write(name, *tensors):
    for k, tensor in enumerate(tensors):
        values = ",".join("%.17g" % value for value in tensor.detach().reshape(-1).tolist())
        rows.append(f"{name}.{k},{values}")


def classifier():
    """Layer normalisation, GELU (tanh form), cross-entropy."""
    x, w1, b1, w2 = wave(0.1, 5, 4), wave(0.2, 6, 4), wave(0.3, 6), wave(0.4, 6, 3)
    hidden = functional.gelu(functional.linear(x, w1, b1), approximate="tanh")
    normal = functional.layer_norm(hidden, (6,), eps=1e-5)
    loss = functional.cross_entropy(normal @ w2, torch.tensor([0, 2, 1, 1, 0]))
    write("classifier", loss, *torch.autograd.grad(loss, (x, w1, b1, w2)))


def attention():
    """Causal attention over [batch, heads, time, channels]."""
    q, k, v = wave(0.5, 2, 2, 5, 3), wave(0.6, 2, 2, 5, 3), wave(0.7, 2, 2, 5, 3)
    out = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    loss = (out.transpose(1, 2).reshape(2, 5, 6) ** 3).sum()
    write("attention", out, *torch.autograd.grad(loss, (q, k, v)))


def equation():
    """The residual u_t + u u_x - 0.1 u_xx of a small tanh network, squared, and the gradients of
    its parameters: third derivatives."""
    points, w1, b1, w2 = wave(0.8, 6, 2), wave(0.9, 5, 2), wave(1.0, 5), wave(1.1, 1, 5)
    u = functional.linear(torch.tanh(functional.linear(points, w1, b1)), w2)
    first = torch.autograd.grad(u.sum(), points, create_graph=True)[0]
    u_x, u_t = first[:, :1], first[:, 1:]
    u_xx = torch.autograd.grad(u_x.sum(), points, create_graph=True)[0][:, :1]
    residual = u_t + u * u_x - 0.1 * u_xx
    loss = (residual ** 2).mean()
    write("equation", loss, residual, *torch.autograd.grad(loss, (w1, b1, w2)))


def rendering():
    """Volume rendering: weights of samples along rays from densities, with a sample that is
    opaque (its transmittance is exactly 0)."""
    density, colour = wave(1.2, 3, 7), wave(1.3, 3, 7, 3)
    opacity = 1 - torch.exp(-functional.softplus(density))
    opacity = torch.where(torch.arange(21).reshape(3, 7) == 10, torch.ones(()), opacity)
    passing = torch.cumprod(1 - opacity, 1)
    before = torch.cat([torch.ones(3, 1), passing[:, :-1]], 1)
    pixel = ((opacity * before)[..., None] * torch.sigmoid(colour)).sum(1)
    loss = ((pixel - 0.5) ** 2).mean()
    write("rendering", pixel, *torch.autograd.grad(loss, (density, colour)))


for case in (classifier, attention, equation, rendering):
    case()
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "autograd.csv")
with open(path, "w") as file:
    file.write("\n".join(rows) + "\n")
