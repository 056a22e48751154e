#!/usr/bin/env python3
"""Computes ONNX models by the reference implementation of the onnx package, beside values that ralimp
computed.  usage: check_onnx.py MODEL.onnx VALUES.csv [MODEL.onnx VALUES.csv ...]

A row of VALUES.csv has the inputs, then the outputs, then whatever else. Exit code 77 without the package."""
import math
import sys

try:
    import numpy as np
    import onnx
    import onnx.checker
    import onnx.reference.op_run
except ImportError as error:
    print(f"skipped: {error}; tests/bench/install_peers makes an environment with it")
    sys.exit(77)


class Erf(onnx.reference.op_run.OpRun):
    """The package's own rounds to float32, whatever its input is."""

    op_domain = ""

    def _run(self, x):
        return (np.vectorize(math.erf, otypes=[x.dtype])(x),)


def width_of(value):
    rows, width = value.type.tensor_type.shape.dim
    assert rows.dim_param and not rows.HasField("dim_value"), "the number of rows is not symbolic"
    return width.dim_value


def check(model_path, values_path):
    model = onnx.load(model_path)
    onnx.checker.check_model(model, full_check=True)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", 17)]
    (given,), (wanted,) = model.graph.input, model.graph.output
    is_double = given.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE
    inputs, outputs = width_of(given), width_of(wanted)
    table = np.loadtxt(values_path, delimiter=",", skiprows=1, ndmin=2)
    x = table[:, :inputs].astype(np.float64 if is_double else np.float32)
    expected = table[:, inputs : inputs + outputs]

    evaluator = onnx.reference.ReferenceEvaluator(model, new_ops=[Erf])
    (y,) = evaluator.run(None, {given.name: x})
    assert y.dtype == x.dtype and y.shape == expected.shape, (y.dtype, y.shape)
    (first,) = evaluator.run(None, {given.name: x[:1]})
    assert first.shape == (1, outputs)
    error = np.sqrt(np.mean((y - expected) ** 2) / np.mean(expected**2))
    tolerance = 1e-11 if is_double else 1e-4
    print(f"{model_path}: {len(model.graph.node)} operators, {len(x)} rows, relative error {error:.2g}")
    assert error <= tolerance, f"more than {tolerance}"
    assert np.max(np.abs(first - y[:1])) <= tolerance * np.max(np.abs(y))


def main():
    arguments = sys.argv[1:]
    assert arguments and len(arguments) % 2 == 0, __doc__
    failed = False
    for model, values in zip(arguments[::2], arguments[1::2]):
        try:
            check(model, values)
        except Exception as error:  # each model is told of
            print(f"{model}: FAILED: {error}")
            failed = True
    sys.exit(1 if failed else 0)


main()
