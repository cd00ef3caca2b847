"""How much of the device time has known work, on real traces, and why the rest does not."""

import duckdb
import pytest

# Percent of the device time without communication, by reason; None is the known part.
SHARES = {
    "h100_owlv2": {None: 100},
    "mi300_owlv2": {None: 100},
    "h100_qwen1.5-0.5b": {None: 70, "no_launch": 30},
    "mi300_torch_compile_triton": {None: 93, "formula": 7},
    "mi300_flux1_graph_replay": {None: 15, "graph_launch": 85},
    "b200_gptoss": {None: 31, "formula": 69, "no_operator": 0, "no_formula": 0},
    "alexnet_cuda_sync": {"no_shapes": 100},
}


@pytest.mark.parametrize("name", SHARES)
def test_the_unknown_work_of_a_sample_has_reasons(
    store_of_samples: duckdb.DuckDBPyConnection, name: str
) -> None:
    found = store_of_samples.execute(
        "SELECT reason, round(percent)::INTEGER FROM work_coverage JOIN runs USING (run_id) "
        "WHERE name = ?",
        [name],
    ).fetchall()
    assert {reason: share for reason, share in found if share} == {
        reason: share for reason, share in SHARES[name].items() if share
    }


def test_operators_with_shapes_have_known_work(store_of_samples: duckdb.DuckDBPyConnection) -> None:
    """At least 99 % of the time that operators with shapes launched in the recording."""
    found = store_of_samples.execute(
        "SELECT run_id, sum(device_ns) FILTER (WHERE reason IS NULL) / sum(device_ns) "
        "FROM work_coverage JOIN runs USING (run_id) "
        "WHERE (reason IS NULL OR reason IN ('no_formula', 'inputs')) "
        "AND regexp_matches(name, 'owlv2|qwen|flux|triton|resnet_ddp') GROUP BY run_id"
    ).fetchall()
    assert len(found) >= 7
    assert all(share >= 0.99 for _, share in found), found
