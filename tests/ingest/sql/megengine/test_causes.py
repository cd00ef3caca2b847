"""A gap of a comp node has one cause, in `bubbles` and on the critical path."""

import ingest
from tests.helpers.samples import MEGENGINE, Samples

# A path covers several comp nodes, which can idle at the same time.
SEVERAL_NODES = {
    "prof_async": {"compute", "host", "dependency"},
    "prof_onlywait": {"copy", "dependency"},
}
ONE_NODE = sorted(set(MEGENGINE) - set(SEVERAL_NODES))


def test_the_critical_path_has_the_causes_of_the_gaps(sampled: Samples) -> None:
    with ingest.connect(sampled.store(*MEGENGINE)) as connection:
        gaps = connection.execute(
            """
            SELECT runs.name, cause, sum(bubbles.dur_ns)::BIGINT
            FROM bubbles INNER JOIN runs USING (run_id)
            WHERE runs.name IN (SELECT unnest($1)) AND bubbles.after_kernel IS NOT NULL
            GROUP BY ALL
            """,
            [ONE_NODE],
        ).fetchall()
        waits = connection.execute(
            """
            SELECT runs.name, kind, sum(path.dur_ns)::BIGINT
            FROM critical_paths AS path INNER JOIN runs USING (run_id)
            WHERE runs.name IN (SELECT unnest($1)) AND kind NOT IN ('compute', 'copy')
                AND path.dur_ns > 0
            GROUP BY ALL
            """,
            [ONE_NODE],
        ).fetchall()
    assert {name for name, *_ in gaps} == set(ONE_NODE)
    assert sorted(waits) == sorted(gaps)


def test_a_path_over_several_comp_nodes_has_these_causes_only(sampled: Samples) -> None:
    with ingest.connect(sampled.store(*MEGENGINE)) as connection:
        found = connection.execute(
            "SELECT runs.name, list(DISTINCT kind) "
            "FROM critical_paths AS path INNER JOIN runs USING (run_id) "
            "WHERE path.dur_ns > 0 GROUP BY runs.name"
        ).fetchall()
    kinds = {name: set(kinds) for name, kinds in found}
    assert {name: kinds[name] for name in SEVERAL_NODES} == SEVERAL_NODES
