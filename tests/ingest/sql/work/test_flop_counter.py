"""Operations of matrix products, convolutions and attention: against torch's own counter."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders.relations import built

pytest.importorskip("torch")
PROGRAM = Path(__file__).with_name("counted_programs.py")
PATIENCE_S = 300
QUERY = """
    SELECT annotation.name[10:], coalesce(sum(work.flops), 0)::BIGINT
    FROM ops AS annotation
    LEFT JOIN (
        FROM op_work INNER JOIN ops ON op_id = event_id
        WHERE kind IN ('product', 'convolution', 'attention')
    ) AS work
        ON work.start_ns BETWEEN annotation.start_ns AND annotation.start_ns + annotation.dur_ns
    WHERE starts_with(annotation.name, 'program: ')
    GROUP BY ALL
"""
# The counter ignores groups in the gradient of the weight: it counts each output channel with all
# input channels. These are three products of the right size each.
RIGHT = {
    "grouped": 3 * 2 * (2 * 6 * 7 * 9) * (2 * 3 * 3),
    "depthwise": 3 * 2 * (2 * 4 * 7 * 9) * (1 * 3 * 3),
    "grouped and transposed": 3 * 2 * (2 * 4 * 9 * 11) * (3 * 3 * 3),
}


def test_operations_equal_those_of_torchs_counter(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    done = subprocess.run(
        [sys.executable, PROGRAM, trace],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout.splitlines()[-1])
    assert all(counted[name] > right for name, right in RIGHT.items())
    assert dict(built(trace).sql(QUERY).fetchall()) == counted | RIGHT
