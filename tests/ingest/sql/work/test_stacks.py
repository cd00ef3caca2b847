"""Operators of TorchScript, for which old traces record the stack of the interpreter."""

import gzip
import json
from pathlib import Path

import pytest

from tests.builders.relations import built


@pytest.mark.parametrize("rank", [0, 1])
def test_a_stack_of_a_sample_is_no_product(samples: Path, rank: int) -> None:
    """Products of operators with too many arguments count inside them, as `aten::addmm`."""
    path = samples / "traces" / f"two_rank_rank{rank}.json.gz"
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    calls = [event for event in events if event.get("name") == "aten::linear"]
    stacks = [call for call in calls if len(call["args"]["Input Dims"]) > 3]
    assert len(stacks) > 10
    counted = """
        SELECT count(*) FROM op_work INNER JOIN ops ON op_id = event_id
        WHERE name = 'aten::linear'
    """
    relations = built(path)
    assert relations.sql(counted).fetchall() == [(len(calls) - len(stacks),)]
    inside = """
        SELECT count(*) FROM ops AS linear
        WHERE name = 'aten::linear' AND json_array_length(input_dims) > 3 AND EXISTS (
            FROM op_work INNER JOIN ops ON op_id = event_id
            WHERE ops.start_ns BETWEEN linear.start_ns AND linear.start_ns + linear.dur_ns
                AND flops > 0
        )
    """
    assert relations.sql(inside).fetchall() == [(len(stacks),)]
