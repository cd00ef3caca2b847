"""Recordings of an H100 in this repository: CUDA graphs, processes on one card, memory.

The figures come from plain Python over the files, and those of memory also from
`torch.cuda.memory_stats()` in the programs. See tests/recordings/gpu/README.md.
"""

from pathlib import Path

import duckdb
import pytest

import ingest
from tests.builders.relations import built
from tests.helpers.recorded import RECORDINGS

Figures = tuple[int, int, int, int, int, int]
# Of each trace: kernels, copies, fills, ns; activities of graph launches and their ns.
ACTIVITIES: dict[str, dict[str, Figures]] = {
    "gpu_eager": {"train-rank0": (151, 4, 0, 633_129, 0, 0)},
    "gpu_compiled": {"compiled-rank0": (1400, 486, 0, 17_270_331, 0, 0)},
    "gpu_reduce_overhead": {"compiled-rank0": (1554, 557, 0, 18_683_045, 14, 31_169)},
    "gpu_graph_sessions": {
        "graph-rank0": (20, 0, 0, 68_480, 0, 0),
        "graph-rank0-cycle2": (40, 5, 0, 129_058, 35, 118_179),
    },
    "gpu_graph_rich": {
        "graph_rich-rank0": (173, 6, 3, 430_429, 0, 0),
        "graph_rich-rank0-cycle2": (224, 8, 4, 552_721, 232, 547_856),
    },
    "gpu_expandable": {"fragments-rank0": (127, 0, 0, 101_132_271, 0, 0)},
    "gpu_two_ranks": {
        "two_ranks-rank0": (65, 30, 0, 205_259, 0, 0),
        "two_ranks-rank1": (65, 28, 0, 235_363, 0, 0),
    },
    "gpu_pool": {
        "pool-rank0": (14, 1, 3, 59_649, 0, 0),
        "pool-rank1": (14, 1, 3, 48_801, 0, 0),
        "pool-rank2": (14, 1, 3, 57_760, 0, 0),
    },
    "gpu_oom": {"oom-rank0": (191, 0, 2, 14_775_427, 0, 0)},
}
# Of each snapshot: the peak and the end in bytes, and the inactive bytes of its segments.
MEMORY: dict[str, dict[str, tuple[int, int]]] = {
    "gpu_eager": {"train-rank0": (74_218_520, 69_751_820)},
    "gpu_expandable": {"fragments-rank0": (1_910_995_968, 383_692_800)},
    "gpu_two_ranks": {
        "two_ranks-rank0": (68_885_524, 68_556_816),
        "two_ranks-rank1": (68_885_524, 68_556_816),
    },
    "gpu_pool": {
        "pool-rank0": (34_758_916, 34_603_008),
        "pool-rank1": (34_660_612, 34_603_008),
        "pool-rank2": (34_709_764, 34_603_008),
    },
    "gpu_oom": {"oom-rank0": (977_272_832, 977_272_832)},
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A store of the recordings with traces, each named after its directory."""
    store = ingest.Store(tmp_path_factory.mktemp("gpu") / "store")
    for name in ACTIVITIES:
        added = store.add(RECORDINGS / "gpu" / name, ingest.AddOptions(name=name))
        assert [source.status for source in added.sources if source.status == "failed"] == []
    return ingest.connect(store)


def by_file(
    connection: duckdb.DuckDBPyConnection, query: str
) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return the rows of a query by run and by file. Its first two columns are name and path."""
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for name, path, *figures in connection.execute(query).fetchall():
        file = Path(path).name.partition(".")[0].removesuffix("-memory")
        found.setdefault(name, {})[file] = tuple(figures)
    return found


def test_activities_are_those_of_the_files(recorded: duckdb.DuckDBPyConnection) -> None:
    found = by_file(
        recorded,
        """
        SELECT r.name, s.path, count(*) FILTER (k.kind = 'kernel'),
            count(*) FILTER (k.kind = 'memcpy'), count(*) FILTER (k.kind = 'memset'),
            sum(k.dur_ns)::BIGINT, count(*) FILTER (k.is_graph_launch),
            coalesce(sum(k.dur_ns) FILTER (k.is_graph_launch), 0)::BIGINT
        FROM runs AS r JOIN sources AS s USING (run_id) JOIN kernels AS k USING (run_id, source_id)
        GROUP BY ALL
        """,
    )
    assert found == ACTIVITIES


def test_each_activity_has_its_launch(recorded: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT count(*) FROM kernels WHERE launch_id IS NULL"
    assert recorded.execute(query).fetchall() == [(0,)]


def test_a_kernel_of_a_collective_is_communication_whatever_its_name() -> None:
    found = built(RECORDINGS / "gpu" / "gpu_nccl").sql(
        "SELECT DISTINCT regexp_extract(name, 'onerank') FROM kernels WHERE class = 'communication'"
    )
    assert found.fetchall() == [("onerank",)]


def test_memory_is_as_torch_counted_it(recorded: duckdb.DuckDBPyConnection) -> None:
    found = by_file(
        recorded,
        """
        SELECT r.name, s.path, peak_bytes, end_bytes
        FROM runs AS r JOIN sources AS s USING (run_id)
        JOIN memory_peak AS m USING (run_id, source_id)
        WHERE s.kind <> 'kineto' AND m.device_type = 'cuda'
        """,
    )
    assert found == MEMORY
