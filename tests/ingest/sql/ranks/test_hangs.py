"""Hangs, by dumps of the flight recorder: who waits, who has not come, and where ranks differ."""

from typing import Any

import pytest

from tests.builders.flight_recorder import VERSIONS, Call, call, dump, job, pickled
from tests.builders.relations import Run, built

DP, TP = ("4", "dp"), ("5", "tp")


def done(count: int, **more: Any) -> list[Call]:
    """Return completed all-reduces from number 1."""
    return [call(seq=seq, **more) for seq in range(1, count + 1)]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_rank_that_has_not_come_is_named(version: str) -> None:
    waits = call("_all_gather_base", 4, "started", output=(32, 8), line=42)
    run = job({0: [*done(3), waits], 1: [*done(3), waits], 2: done(3, line=7)}, version)
    found = built(run)
    assert found.sql(
        "SELECT process_group, collective_seq, kind, input_sizes, caller_frame, waiting_ranks, "
        "absent_ranks, missing_ranks, passed_ranks, mismatch, is_origin FROM hangs"
    ).fetchall() == [
        ("0", 4, "all_gather", [[8, 8]], "train.py:42 step", [0, 1], [2], [], [], None, True)
    ]
    assert found.sql(
        "SELECT rank, role, record_id, last_kind, last_seq, last_frame, is_last_done "
        "FROM hang_ranks ORDER BY rank"
    ).fetchall() == [
        (0, "waiting", 3, "all_gather", 4, "train.py:42 step", False),
        (1, "waiting", 3, "all_gather", 4, "train.py:42 step", False),
        (2, "absent", None, "all_reduce", 3, "train.py:7 step", True),
    ]
    assert found.sql(
        "SELECT rank, last_enqueued_seq, last_started_seq, last_completed_seq, "
        "first_unfinished_seq, first_recorded_seq FROM flight_positions ORDER BY rank"
    ).fetchall() == [(0, 4, 4, 3, 4, 1), (1, 4, 4, 3, 4, 1), (2, 3, 3, 3, None, 1)]


def test_a_rank_without_a_dump_is_missing() -> None:
    waits = [*done(2), call(seq=3, state="scheduled")]
    run = job({0: waits, 3: waits}, size=4)
    files = {**run.files, "comm_lib_trace_rank_1": pickled(dump(waits))[:-40]}
    found = built(Run(files))
    assert found.sql(
        "SELECT waiting_ranks, absent_ranks, missing_ranks, is_origin FROM hangs"
    ).fetchall() == [([0, 3], [], [1, 2], True)]
    assert found.sql(
        "SELECT rank, missing_reason FROM flight_positions ORDER BY rank"
    ).fetchall() == [(0, None), (1, "unreadable"), (2, "no dump"), (3, None)]


def test_the_cause_is_where_a_rank_waits_for_another_that_waits_nowhere() -> None:
    """Rank 0 waits for rank 1, which waits for rank 3 in another group."""
    run = job(
        {
            0: [call(seq=1, state="started", group=DP)],
            1: [call(seq=1, state="started", group=TP)],
            3: [],
        },
        groups={DP: [0, 1], TP: [1, 3]},
    )
    assert built(run).sql(
        "SELECT process_group, group_description, absent_ranks, is_origin FROM hangs "
        "ORDER BY process_group"
    ).fetchall() == [("4", "dp", [1], False), ("5", "tp", [3], True)]


def test_ranks_that_wait_for_each_other_have_no_origin() -> None:
    run = job(
        {
            0: [call(seq=1, state="started", group=DP)],
            1: [call(seq=1, state="started", group=TP)],
        },
        groups={DP: [0, 1], TP: [0, 1]},
    )
    assert built(run).sql(
        "SELECT process_group, waiting_ranks, absent_ranks, is_origin FROM hangs "
        "ORDER BY process_group"
    ).fetchall() == [("4", [0], [1], False), ("5", [1], [0], False)]


@pytest.mark.parametrize("version", VERSIONS[1:])
@pytest.mark.parametrize(
    ("difference", "odd"),
    [
        ("kind", {"name": "broadcast"}),
        ("shape", {"shape": (8, 4)}),
        ("dtype", {"dtype": "Half"}),
    ],
)
def test_the_first_mismatch_is_found(difference: str, odd: dict[str, Any], version: str) -> None:
    usual = [*done(1), call(seq=2, state="started"), call(seq=3, state="scheduled")]
    other = [
        *done(1),
        call(seq=2, state="started", line=77, **odd),
        call("barrier", 3, "scheduled"),
    ]
    found = built(job({0: usual, 1: usual, 2: other}, version))
    assert found.sql(
        "SELECT collective_seq, difference, rank, is_odd, caller_frame FROM flight_mismatches "
        "ORDER BY rank"
    ).fetchall() == [
        (2, difference, 0, False, "train.py:10 step"),
        (2, difference, 1, False, "train.py:10 step"),
        (2, difference, 2, True, "train.py:77 step"),
    ]
    assert found.sql("SELECT collective_seq, mismatch, is_origin FROM hangs").fetchall() == [
        (2, difference, True)
    ]


def test_two_ranks_that_differ_are_equally_odd() -> None:
    run = job({0: done(1), 1: done(1, dtype="Half")})
    assert built(run).sql("SELECT difference, is_odd FROM flight_mismatches").fetchall() == [
        ("dtype", None),
        ("dtype", None),
    ]


def test_calls_whose_shapes_may_differ_match() -> None:
    """All-to-all may be uneven. A root has inputs of a scatter, and outputs of a gather."""

    def calls(rank: int) -> list[Call]:
        root = rank == 0
        return [
            call("all_to_all", 1, shape=(rank + 1,), output=(3,)),
            call("all_to_allv", 2, shape=(3,), output=(rank + 1,)),
            call(
                "scatter",
                3,
                input_sizes=[[2, 4]] if root else [],
                input_dtypes=["Float"] if root else [],
            ),
            call(
                "gather",
                4,
                output_sizes=[[2, 4]] if root else [],
                output_dtypes=["Float"] if root else [],
            ),
            call("all_gather_v", 5, shape=(rank + 1,), output=(3,)),
        ]

    assert built(job({0: calls(0), 1: calls(1)})).sql("FROM flight_mismatches").fetchall() == []


def test_an_all_reduce_that_is_done_on_one_rank_does_not_hang() -> None:
    """Rank 0 has not noticed that its third call is done. Rank 2 does not come to the fourth."""
    waits = call(seq=4, state="started")
    unnoticed = call(seq=3, state="started")
    run = job({0: [*done(2), unnoticed, waits], 1: [*done(3), waits], 2: done(3)})
    assert built(run).sql(
        "SELECT collective_seq, waiting_ranks, absent_ranks FROM hangs"
    ).fetchall() == [(4, [0, 1], [2])]
    run = job({0: [*done(2), unnoticed], 1: done(3)})
    assert built(run).sql("FROM hangs").fetchall() == []


def test_a_broadcast_is_done_early_at_its_root() -> None:
    run = job(
        {0: [call("broadcast")], 1: [call("broadcast", state="started")], 2: [call(group=TP)]},
        groups={TP: [2]},
    )
    assert built(run).sql(
        "SELECT process_group, kind, waiting_ranks, absent_ranks, passed_ranks FROM hangs"
    ).fetchall() == [("0", "broadcast", [1], [2], [0])]


def test_overwritten_calls_are_no_mismatch() -> None:
    """Of rank 1, the recorder has only the last three calls."""
    names = ["all_reduce", "broadcast", "all_reduce", "barrier", "reduce", "all_reduce"]
    calls = [call(name, seq) for seq, name in enumerate(names, 1)]
    run = job({0: calls, 2: calls}, size=3)
    wrapped = dump(calls[3:], first_record=3)
    found = built(Run({**run.files, "comm_lib_trace_rank_1": pickled(wrapped)}))
    assert found.sql("FROM flight_mismatches").fetchall() == []
    assert found.sql("FROM hangs").fetchall() == []
    assert found.sql(
        "SELECT rank, records, earlier_records FROM flight_dumps ORDER BY rank"
    ).fetchall() == [(0, 6, 0), (1, 3, 3), (2, 6, 0)]
    assert found.sql(
        "SELECT rank, last_completed_seq, first_recorded_seq FROM flight_positions ORDER BY rank"
    ).fetchall() == [(0, 6, 1), (1, 6, 4), (2, 6, 1)]


def test_the_ends_of_a_point_to_point_call_are_found() -> None:
    """Numbers in names are those in the group: 0 -> 1 of group 5 is rank 1 -> rank 3."""
    run = job(
        {
            0: done(1),
            1: [*done(1), call("send 0->1", 0, "started", group=TP, p2p_seq=1, line=5)],
            2: done(1),
            3: [*done(1), call("recv 1<-0", 0, group=TP, p2p_seq=1)],
        },
        groups={TP: [1, 3]},
    )
    found = built(run)
    assert found.sql(
        "SELECT rank, kind, is_p2p, peer_rank, p2p_seq FROM flight_records WHERE is_p2p "
        "ORDER BY rank"
    ).fetchall() == [(1, "send", True, 3, 1), (3, "recv", True, 1, 1)]
    assert found.sql(
        "SELECT process_group, collective_seq, source_rank, destination_rank, kind, "
        "waiting_ranks, absent_ranks, caller_frame FROM hangs"
    ).fetchall() == [("5", None, 1, 3, "send", [1], [3], "train.py:5 step")]
    assert found.sql("FROM flight_mismatches").fetchall() == []


def test_a_receiver_waits_for_a_rank_without_a_dump() -> None:
    run = job({0: [call("recv 0<-1", 0, "started", p2p_seq=1)]}, size=2)
    assert built(run).sql(
        "SELECT source_rank, destination_rank, waiting_ranks, missing_ranks FROM hangs"
    ).fetchall() == [(1, 0, [0], [1])]


def test_calls_that_run_as_one_are_done_with_their_end() -> None:
    """Only the last entry, `coalesced`, has a state."""
    parts: dict[str, Any] = {"state": "scheduled", "retired": False, "p2p_seq": 1}
    ends = {"p2p_seq": 1, "input_sizes": [], "output_sizes": []}

    def batch(rank: int, state: str) -> list[Call]:
        return [
            call(f"send {rank}->{1 - rank}", 0, **parts),
            call(f"recv {rank}<-{1 - rank}", 0, **parts),
            call("coalesced", 0, state, **ends),
        ]

    found = built(job({0: batch(0, "completed"), 1: batch(1, "completed")}))
    assert found.sql("SELECT DISTINCT is_done FROM flight_records").fetchall() == [(True,)]
    assert found.sql("SELECT kind, is_part FROM flight_records WHERE rank = 0").fetchall() == [
        ("send", True),
        ("recv", True),
        ("coalesced", False),
    ]
    assert found.sql("FROM hangs").fetchall() == []
    found = built(job({0: batch(0, "started"), 1: []}))
    assert found.sql(
        "SELECT source_rank, destination_rank, kind, waiting_ranks, absent_ranks FROM hangs "
        "ORDER BY source_rank"
    ).fetchall() == [(0, 1, "send", [0], [1]), (1, 0, "recv", [0], [1])]


def test_version_1_does_not_number_collectives_beside_point_to_point_calls() -> None:
    """There, one counter counts both. Ranks 0 and 1 made a call more than rank 2."""
    pair = {0: call("send 0->1", 1, p2p_seq=1), 1: call("recv 1<-0", 1, p2p_seq=1)}
    later = [call(seq=2), call("broadcast", 3)]
    found = built(
        job({0: [pair[0], *later], 1: [pair[1], *later], 2: [call(seq=1)]}, version="1.1")
    )
    assert found.sql("FROM flight_mismatches").fetchall() == []
    assert found.sql(
        "SELECT rank, list(collective_seq ORDER BY record_id) FROM flight_records GROUP BY rank "
        "ORDER BY rank"
    ).fetchall() == [(0, [None, None, None]), (1, [None, None, None]), (2, [1])]


def test_groups_of_the_same_name_are_told_apart() -> None:
    first, second = done(2, group=TP), done(1, group=TP, dtype="Half")
    run = job({0: first, 1: first, 2: second, 3: second}, groups={})
    files = {
        f"comm_lib_trace_rank_{rank}": pickled(
            dump(first if rank < 2 else second, groups={TP: [0, 1] if rank < 2 else [2, 3]})
        )
        for rank in range(4)
    }
    found = built(Run({**run.files, **files}))
    assert found.sql(
        "SELECT process_group, list(rank ORDER BY rank) FROM flight_positions GROUP BY ALL "
        "ORDER BY ALL"
    ).fetchall() == [("5 of rank 0", [0, 1]), ("5 of rank 2", [2, 3])]
    assert found.sql("FROM flight_mismatches").fetchall() == []


def test_of_two_dumps_of_a_rank_the_later_one_counts() -> None:
    run = job({0: [call(seq=1, state="started")], 1: done(1)})
    later = {"later_rank_0": pickled(dump(done(2), groups={("0", "default_pg"): [0, 1]}))}
    found = built(Run({**run.files, **later}))
    assert found.sql("FROM hangs").fetchall() == []
    assert found.sql(
        "SELECT rank, records, is_latest, used_before_id FROM flight_dumps ORDER BY ALL"
    ).fetchall() == [(0, 1, False, 0), (0, 2, True, None), (1, 1, True, None)]


def test_dumps_of_a_rank_that_follow_each_other_count_together() -> None:
    """`capture` writes one for each trace. Of calls in two dumps, the later one counts."""
    run = job({0: done(3), 1: [*done(2), call(seq=3, state="started")]})
    members = {("0", "default_pg"): [0, 1]}
    next_of_0 = dump([call(seq=4, state="started")], groups=members, first_record=3)
    next_of_1 = dump([call(seq=3), call(seq=4, group=TP)], groups=members, first_record=2)
    files = {"end_rank_0": pickled(next_of_0), "end_rank_1": pickled(next_of_1)}
    found = built(Run({**run.files, **files}))
    assert found.sql(
        "SELECT rank, list(collective_seq ORDER BY record_id), bool_and(is_done) "
        "FROM flight_records WHERE is_used GROUP BY rank ORDER BY rank"
    ).fetchall() == [(0, [1, 2, 3, 4], False), (1, [1, 2, 3, 4], True)]
    assert found.sql(
        "SELECT collective_seq, waiting_ranks, absent_ranks FROM hangs"
    ).fetchall() == [(4, [0], [1])]


@pytest.mark.parametrize(
    ("recorded", "kind"),
    [
        ("nccl:_all_gather_base", "all_gather"),
        ("nccl:ALLGATHER_coalesced", "all_gather"),
        ("nccl:all_gather_into_tensor_coalesced", "all_gather"),
        ("nccl:allreduce_coalesced", "all_reduce"),
        ("nccl:all_reduce_barrier", "barrier"),
        ("nccl:_reduce_scatter_base", "reduce_scatter"),
        ("nccl:REDUCE_SCATTER_coalesced", "reduce_scatter"),
        ("nccl:all_to_all_v_single", "all_to_all"),
        ("nccl:_broadcast_oop", "broadcast"),
        ("nccl:_reduce_oop", "reduce"),
        ("nccl:send 1->2", "send"),
        ("nccl:recv 3<-0", "recv"),
        ("gloo:scatter", "scatter"),
        ("nccl:new_window", "new_window"),
        ("nccl:coalesced", "coalesced"),
    ],
)
def test_kinds_have_one_name(recorded: str, kind: str) -> None:
    found = built(job({0: [call(profiling_name=recorded)]}))
    assert found.sql("SELECT kind FROM flight_records").fetchall() == [(kind,)]
