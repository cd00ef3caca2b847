"""Bytes of operators on the CPU: against the tensors that they read and write."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.relations import built

pytest.importorskip("torch")
PROGRAM = Path(__file__).with_name("measured_operators.py")
PATIENCE_S = 300
QUERY = """
    SELECT annotation.name[7:]::INTEGER AS call, bytes_read, bytes_written
    FROM ops AS annotation
    INNER JOIN (FROM op_work INNER JOIN ops ON op_id = event_id) AS work
        ON work.start_ns BETWEEN annotation.start_ns AND annotation.start_ns + annotation.dur_ns
    WHERE starts_with(annotation.name, 'call: ') AND work.name = $1[call + 1]
    ORDER BY call, work.start_ns
"""
# Calls for which the formulas are wrong on purpose, by operator and note, with the reason. A count
# of bytes that is too small is in the first list.
STATISTICS = "means, deviations and gradients of parameters are small"
SUMS = "the sums for the backward are small"
LEFT_OUT = {
    ("aten::_batch_norm_with_update", ""): STATISTICS,
    ("aten::_fused_rms_norm", ""): STATISTICS,
    ("aten::_native_batch_norm_legit", ""): STATISTICS,
    ("aten::native_batch_norm", ""): STATISTICS,
    ("aten::native_batch_norm", "inference"): STATISTICS,
    ("aten::native_batch_norm_backward", ""): STATISTICS,
    ("aten::native_group_norm", ""): STATISTICS,
    ("aten::native_group_norm_backward", ""): STATISTICS,
    ("aten::native_layer_norm", ""): STATISTICS,
    ("aten::native_layer_norm_backward", ""): STATISTICS,
    ("aten::_scaled_dot_product_attention_math", ""): "it returns the weights of keys, too",
    ("aten::_scaled_dot_product_flash_attention_for_cpu", ""): SUMS,
    ("aten::_scaled_dot_product_flash_attention_for_cpu", "mask"): SUMS,
    ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", "stride 0"): SUMS,
    ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", "stride 1"): SUMS,
    ("aten::log_sigmoid_forward", ""): "only the CPU has a buffer",
    ("aten::masked_scatter_", "not a fill"): "the mask tells how much of the source is read",
    ("aten::mul", "half and bfloat16"): "nobody mixes them",
    ("aten::mul", "wider out"): "an argument is the result",
}
INTEGERS = "the result of integers is of float32"
TOO_MUCH = {
    ("aten::div", "integers"): INTEGERS,
    ("aten::sqrt", "of integers"): INTEGERS,
}


def test_bytes_are_those_of_the_tensors_that_are_read_and_written(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    done = subprocess.run(
        [sys.executable, PROGRAM, trace],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout.splitlines()[-1])
    operators = [call["operator"] for call in measured]
    rows = built(trace).execute(QUERY, [operators]).fetchall()
    assert [call for call, *_ in rows] == list(range(len(measured)))  # one row for each
    smaller: set[tuple[str, str]] = set()
    larger: set[tuple[str, str]] = set()
    for call, (_, *ours) in zip(measured, rows, strict=True):
        theirs = [call["read"], call["written"]]
        if ours != theirs:
            is_smaller = all(our <= their for our, their in zip(ours, theirs, strict=True))
            (smaller if is_smaller else larger).add((call["operator"], call["note"]))
    assert smaller == set(LEFT_OUT)
    assert larger == set(TOO_MUCH)
