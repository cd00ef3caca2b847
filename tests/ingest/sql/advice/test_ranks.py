"""The straggler is told that it is late; a rank that waits is not told to communicate less."""

import pytest

from tests.builders.collectives import computing, loop, recorded, shifted
from tests.builders.events import kernel
from tests.builders.relations import Relations, Run, built


def job(transfer_us: float = 100) -> Run:
    """Return four ranks, of which rank 2 comes 0.8 ms later than the others in each step."""
    calls = loop(4, 12, lambda rank, _: 4000 + 800 * (rank == 2), transfer_us=transfer_us)
    return computing(recorded(calls, {rank: shifted(30 * rank) for rank in range(4)}))


def bounds(found: Relations, kind: str) -> dict[int, int]:
    rows = found.sql(f"SELECT rank, bound_ns FROM advice WHERE kind = '{kind}' ORDER BY rank")
    return dict(rows.fetchall())


def test_waiting_is_no_communication_to_avoid() -> None:
    """Of 0.9 ms in the collective, a rank waits 0.8 ms. Only the rest can be saved."""
    found = built(job())
    assert found.sql(
        "SELECT DISTINCT communication_ns, exposed_communication_ns FROM run_metrics "
        "WHERE rank <> 2"
    ).fetchall() == [(900_000, 900_000)]
    assert bounds(found, "exposed_communication") == pytest.approx(
        dict.fromkeys(range(4), 100_000), abs=100
    )
    assert found.sql(
        "SELECT finding FROM advice WHERE rank = 0 AND kind = 'exposed_communication'"
    ).fetchall() == [
        (
            "Communication took 100 µs of the median step, and no computation ran meanwhile. "
            "Apart from that, waiting for other ranks took 800 µs.",
        )
    ]


def test_a_rank_that_mostly_waits_gets_no_advice_about_communication() -> None:
    found = built(job(transfer_us=40))
    assert bounds(found, "exposed_communication") == {}
    assert found.sql(
        "SELECT bound_ns FROM advice_checks WHERE kind = 'exposed_communication' AND rank = 0"
    ).fetchall() == [(40_000,)]


def test_a_wait_without_overlap_is_not_the_transfer() -> None:
    """On rank 0 a kernel runs during the transfer, so only the wait is exposed."""
    run = job()
    events = run.files["rank0.json"]["traceEvents"]
    transfers = [each["ts"] + 800 for each in events if each["name"].startswith("nccl")]
    for at_us in transfers:
        events.append(kernel("add", at_us, 100, device=0, stream=9))
    found = built(run)
    assert found.sql(
        "SELECT DISTINCT waiting_ns, transfer_ns, exposed_transfer_ns FROM exposed_transfers "
        "WHERE rank = 0"
    ).fetchall() == [(800_000, 100_000, 0)]
    assert found.sql(
        "SELECT exposed_communication_ns FROM run_metrics WHERE rank = 0"
    ).fetchall() == [(800_000,)]
    assert 0 not in bounds(found, "exposed_communication")


def test_the_straggler_is_told_why_it_is_late() -> None:
    found = built(job())
    assert found.sql(
        "SELECT rank, is_default, bound_ns, gain_ns, round(percent, 1), finding "
        "FROM advice WHERE kind = 'straggler'"
    ).fetchall() == [
        (
            2,
            True,
            800_000,
            800_000,
            16.3,
            "Without the lateness of this rank in collectives, the median step would end 800 µs "
            "earlier. It comes last because of compute (aten::mm, as many calls), which takes "
            "800 µs longer than in the other ranks.",
        )
    ]
    assert found.sql(
        "SELECT bound_ns FROM advice_of_steps('run', 1, 3) WHERE kind = 'straggler' AND rank = 2"
    ).fetchall() == [(2_400_000,)]


def test_without_a_straggler_no_rank_is_told_so() -> None:
    calls = loop(2, 12, lambda *_: 4000)
    found = built(computing(recorded(calls, {0: shifted(0), 1: shifted(30)})))
    assert bounds(found, "straggler") == {}
    assert found.sql(
        "SELECT DISTINCT bound_ns, unknown_reason FROM advice_checks WHERE kind = 'straggler'"
    ).fetchall() == [(0, None)]


def test_it_is_unknown_whether_a_rank_alone_is_late() -> None:
    calls = loop(2, 12, lambda *_: 4000)
    found = built(computing(recorded(calls, {0: shifted(0), 1: shifted(30)}, missing=[1])))
    assert found.sql(
        "SELECT bound_ns, unknown_reason FROM advice_checks WHERE kind = 'straggler'"
    ).fetchall() == [(None, "no collectives are matched with those of other ranks")]


def test_a_step_in_which_the_straggler_is_not_late_gains_nothing() -> None:
    """It comes 8 ms late to each third collective."""
    calls = loop(4, 31, lambda rank, number: 4000 + 8000 * (rank == 2 and number % 3 == 0))
    found = built(computing(recorded(calls, dict.fromkeys(range(4), shifted(0)))))
    assert found.sql("SELECT rank FROM stragglers WHERE is_straggler").fetchall() == [(2,)]
    gains = "SELECT gain_ns FROM advice_of_steps('run', {0}, {0}) WHERE kind = 'straggler'"
    by_step = [found.sql(gains.format(step) + " AND rank = 2").fetchall() for step in (1, 2, 3)]
    assert by_step == [[(0,)], [(0,)], [(8_000_000,)]]


def test_waits_that_are_known_to_be_zero_take_no_time() -> None:
    """A kernel runs during a half of each transfer of the rank that comes last."""
    run = job()
    events = run.files["rank2.json"]["traceEvents"]
    transfers = [each["ts"] for each in events if each["name"].startswith("nccl")]
    events += [kernel("add", at_us, 50, device=2, stream=9) for at_us in transfers]
    found = built(run)
    assert found.sql(
        "SELECT finding FROM advice_checks WHERE rank = 2 AND kind = 'exposed_communication'"
    ).fetchall() == [
        (
            "Communication took 100 µs of the median step; for 50.0 µs of that, no computation "
            "ran. Apart from that, waiting for other ranks took no time.",
        )
    ]
