"""The rows of the matrix of ranks, in large runs and in each order."""

import pandas as pd

from dashboard.ranks import matrix, rows


def of_run(ranks: int, *, a_host: int | None = None) -> pd.DataFrame:
    """Return ranks with the latest first: rank 100 is 800 µs late, and computes longer."""
    found = pd.DataFrame(
        {
            "rank": range(ranks),
            "device": 0,
            "host_name": [f"node{rank // a_host}" if a_host else None for rank in range(ranks)],
            "label": [f"rank {rank}" for rank in range(ranks)],
            "lateness_ns": [800_000 if rank == 100 else rank for rank in range(ranks)],
            "compute_ns": [9_000_000 if rank == 100 else 8_200_000 for rank in range(ranks)],
            "wall_ns": 10_000_000,
        }
    )
    return found.sort_values("lateness_ns", ascending=False)


def names(placed: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(placed["row"]))


def test_large_runs_have_a_row_for_several_ranks() -> None:
    placed = rows.of_order(of_run(512), rows.LATENESS, {})
    assert names(placed)[:2] == ["ranks 96 to 103", "ranks 504 to 511"]
    assert len(names(placed)) == 64
    drawn = matrix.matrix_of(placed, {"lateness_ns": "lateness", "compute_ns": "compute"}, 100)
    late = drawn.cells[drawn.cells["row"] == "ranks 96 to 103 *"]
    assert late["label"].tolist() == ["rank 100", "rank 100"]
    assert late["time"].tolist() == ["800 µs", "9.00 ms"]


def test_large_runs_have_a_row_for_each_host_if_hosts_are_known() -> None:
    run = of_run(512, a_host=8)
    assert names(rows.of_order(run, rows.LATENESS, {}))[0] == "node12"
    by_host = names(rows.of_order(run, rows.HOST, {}))
    assert by_host[:3] == ["node0", "node1", "node2"]
    assert len(by_host) == 64
    assert names(rows.of_order(run, rows.RANK, {}))[0] == "ranks 0 to 7"


def test_rows_can_be_process_groups() -> None:
    groups = pd.DataFrame(
        {
            "process_group_id": [1, 2, 3],
            "name": ["all", "left", "right"],
            "group_size": [128, 64, 64],
            "member_ranks": [list(range(128)), list(range(64)), list(range(64, 128))],
        }
    )
    run = of_run(128)
    assert list(rows.orders(run, groups)) == ["lateness", "rank", "group"]
    of_rank = rows.groups_of(groups, 128)
    assert names(rows.of_order(run, rows.GROUP, of_rank)) == ["group left", "group right"]
    small = of_run(4)
    assert names(rows.of_order(small, rows.GROUP, of_rank))[0] == "group left · rank 0"
