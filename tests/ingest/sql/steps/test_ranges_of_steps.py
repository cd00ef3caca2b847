"""Rankings and parts of a range of steps."""

import pytest

from tests.builders.events import host
from tests.builders.relations import Relations, built
from tests.ingest.sql.steps.test_step_parts import memory
from tests.ingest.sql.steps.test_steps import launched, step

# Three steps with a kernel each, and one kernel after them.
THREE = [
    *(step(number, 100 * number, 100) for number in (1, 2, 3)),
    *launched("first", 110, 120, 10),
    *launched("second", 210, 220, 20),
    *launched("third", 310, 320, 30),
    *launched("after", 410, 420, 40),
    host("aten::mm", "cpu_op", 205, 50),
]


@pytest.fixture(scope="module")
def three() -> Relations:
    """A run of the events `THREE`."""
    return built(THREE)


def ask(relations: Relations, query: str, bounds: str) -> list[tuple[object, ...]]:
    return relations.sql(query.format(f"'run'{bounds}")).fetchall()


@pytest.mark.parametrize(
    ("bounds", "names"),
    [
        ("", ["after", "first", "second", "third"]),
        (", 2, 2", ["second"]),
        (", 2, NULL", ["second", "third"]),
        (", to_step := 2", ["first", "second"]),
        (", 7, 9", []),
    ],
)
def test_a_ranking_of_steps(three, bounds: str, names: list[str]) -> None:
    found = ask(
        three,
        "SELECT name FROM ranking_of_steps({}) "
        "WHERE level = 'kernel' AND name <> 'bubble' ORDER BY name",
        bounds,
    )
    assert [name for (name,) in found] == names


def test_the_idle_time_of_a_step_is_in_its_ranking(three) -> None:
    query = "SELECT calls, device_ns FROM ranking_of_steps({}) WHERE name = 'bubble'"
    # The gap before each step's kernel counts from the start of the step, the gap after it until
    # the end of the step. The gap after the last step's kernel is ended by no step.
    idle_ns = [20_000 + 70_000, 20_000 + 60_000, 20_000 + 50_000]
    assert ask(three, f"{query} AND level = 'op'", ", 2, 3") == [(2, sum(idle_ns[1:]))]
    assert ask(three, f"{query} AND level = 'op'", "") == [(4, sum(idle_ns))]


def test_the_ranking_of_all_steps_is_the_ranking_of_the_run(store_of_samples) -> None:
    [(run,)] = store_of_samples.sql(
        "SELECT run_id FROM runs WHERE name = 'v100_resnet50_workers0'"
    ).fetchall()
    columns, work = "level, rank, device, name, calls, device_ns", "name <> 'bubble' ORDER BY ALL"
    of_run = f"SELECT {columns} FROM ranking WHERE run_id = '{run}' AND {work}"
    of_steps = f"SELECT {columns} FROM ranking_of_steps('{run}') WHERE {work}"
    assert store_of_samples.sql(of_steps).fetchall() == store_of_samples.sql(of_run).fetchall()
    idle = f"SELECT DISTINCT device_ns FROM ranking_of_steps('{run}') WHERE name = 'bubble'"
    totals = f"SELECT idle_ns FROM run_totals WHERE run_id = '{run}'"
    assert store_of_samples.sql(idle).fetchall() == store_of_samples.sql(totals).fetchall()


def test_shares_of_a_run_do_not_count_other_runs() -> None:
    other = [step(2, 200, 900), *launched("first", 210, 220, 20)]
    connection = built({"three": THREE, "other": other})
    assert connection.sql(
        "SELECT part, percent FROM parts_of_steps('three', 2, 2) WHERE ns > 0"
    ).fetchall() == [("host", 80.0), ("compute", 20.0)]
    # A user's SQL has the same result.
    assert connection.sql(
        """
        WITH parts AS (
            SELECT rank, device, part, sum(ns)::BIGINT AS ns
            FROM step_parts WHERE run_id = 'three' GROUP BY ALL
        )
        SELECT sum(100 * ns / whole)
        FROM (SELECT *, sum(ns) OVER (PARTITION BY rank, device) AS whole FROM parts)
        """
    ).fetchall() == [(100.0,)]


def test_parts_of_steps(three) -> None:
    query = "SELECT part, ns, percent FROM parts_of_steps({}) WHERE ns > 0"
    assert ask(three, query, ", 2, 2") == [("host", 80_000, 80.0), ("compute", 20_000, 20.0)]
    [(whole,)] = ask(three, "SELECT sum(ns) FROM parts_of_steps({})", "")
    assert [(whole,)] == three.sql("SELECT wall_ns FROM run_totals").fetchall()


def test_a_host_ranking_of_steps(three) -> None:
    query = "SELECT name, calls, total_ns FROM host_ranking_of_steps({})"
    assert ask(three, query, ", 2, 2") == [("aten::mm", 1, 50_000)]
    assert ask(three, query, ", 1, 1") == []


def test_bubbles_of_steps(three) -> None:
    query = "SELECT cause, sum(bubbles), sum(idle_ns) FROM bubbles_of_steps({}) GROUP BY cause"
    assert ask(three, query, ", 2, 2") == [("host", 1, 90_000)]
    # With the gap before the first activity, and the part in the last step of the gap after it.
    assert ask(three, query, "") == [("host", 4, 20_000 + 90_000 + 80_000 + 50_000)]
    assert ask(three, query, ", 1, 1") == [("host", 1, 20_000)]


@pytest.mark.parametrize("bounds", ["", ", 2, 2", ", 1, 2", ", 7, 9"])
def test_causes_and_split_of_steps_add_up(three, bounds) -> None:
    times = ask(three, "SELECT idle_ns, wall_ns FROM metrics_of_steps({})", bounds)
    query = "SELECT sum(idle_ns) FROM bubble_causes_of_steps({}) HAVING count(*) > 0"
    assert ask(three, query, bounds) == [(idle_ns,) for idle_ns, _ in times if idle_ns]
    query = "SELECT sum(part_ns) FROM device_split_of_steps({}) HAVING count(*) > 0"
    assert ask(three, query, bounds) == [(wall_ns,) for _, wall_ns in times]


def test_the_highest_memory_of_steps() -> None:
    connection = built(
        [
            *(step(number, 100 * number, 100) for number in (1, 2, 3)),
            memory(110, 500, 500),
            memory(150, -500, 0),
            memory(210, 300, 300),
            memory(310, 400, 700),
        ]
    )
    query = "SELECT used_bytes FROM memory_moments_of_steps({})"
    assert ask(connection, query, "") == [(700,)]
    assert ask(connection, query, ", 1, 2") == [(500,)]
    assert ask(connection, query, ", 2, 2") == [(300,)]
    assert ask(connection, query, ", 7, 7") == []
    held = (
        "WITH peak AS (FROM memory_moments_of_steps({}, 2, 2)) "
        "SELECT sum(bytes) FROM memory_by_owner_at('peak') WHERE level = 'op'"
    )
    assert ask(connection, held, "") == [(300,)]
