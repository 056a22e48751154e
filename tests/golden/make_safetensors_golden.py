#!/usr/bin/env python3
"""Writes golden.safetensors by the safetensors package: a tensor of each type that is read, a scalar, an
empty tensor, names and texts beyond ASCII. tests/data/safetensors_test.cpp repeats the formulas.

    ${RALIMP_VENV:-.venv-peers}/bin/python tests/golden/make_safetensors_golden.py

tests/bench/install_peers makes that environment."""
import pathlib

import numpy as np
from safetensors.numpy import save_file


def main():
    tensors = {
        "half steps": (np.arange(15) / 2 - 3).astype(np.float32).reshape(3, 5),
        "thirds": (np.arange(4) / 3.0).reshape(2, 1, 2),
        "squares": (np.arange(7, dtype=np.int64) ** 2) * -(2**40),
        "odd": (2 * np.arange(3) + 1).astype(np.int32),
        "bytes": (np.arange(5) * 60).astype(np.uint8),
        "scalar": np.array(2.5, dtype=np.float32),
        "empty": np.zeros((0, 4), dtype=np.float64),
        "Größe \"1\"": np.array([np.inf, -0.0], dtype=np.float64),
    }
    metadata = {"kind": "golden", "text": "two\nlines, \"quoted\", µ"}
    save_file(tensors, pathlib.Path(__file__).with_name("golden.safetensors"), metadata)


main()
