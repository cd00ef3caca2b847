"""Rankings of modules and Python frames."""

import duckdb

from tests.builders.events import frame, host, kernel, op
from tests.builders.relations import Relations, built

RECORDED_WITH_STACKS = "flux_eager_full"


def model() -> Relations:
    """Return a run in which a block is called twice and its layer launches a kernel each time."""
    return built(
        [
            frame("nn.Module: Net_0", 0, 200),
            *(
                event
                for n, ts in enumerate((10, 100))
                for event in (
                    frame("nn.Module: Block_0", ts, 80),
                    frame("module.py(1): call", ts + 1, 78),
                    frame("nn.Module: Linear_3", ts + 10, 40),
                    op("aten::mm", ts + 15, 20, args={"Input Dims": [[2, 3], [3, 5]]}),
                    host("cudaLaunchKernel", "cuda_runtime", ts + 20, 5, {"correlation": n + 1}),
                    kernel("gemm", ts + 30, 10, correlation=n + 1),
                )
            ),
        ]
    )


def test_a_module_includes_everything_inside_it() -> None:
    found = model().sql(
        "SELECT module, class, depth, calls, total_ns, self_ns, device_ns, idle_ns, flops "
        "FROM module_ranking ORDER BY depth"
    )
    assert found.fetchall() == [
        ("Net_0", "Net", 0, 1, 200_000, 40_000, 20_000, 120_000, 120),
        ("Net_0/Block_0", "Block", 1, 2, 160_000, 80_000, 20_000, 120_000, 120),
        ("Net_0/Block_0/Linear_3", "Linear", 2, 2, 80_000, 80_000, 20_000, 120_000, 120),
    ]


def test_parent_id_is_the_module_id_of_the_parent() -> None:
    found = model().sql(
        "SELECT inner_one.name, outer_one.name FROM module_ranking AS inner_one "
        "INNER JOIN module_ranking AS outer_one ON outer_one.module_id = inner_one.parent_id "
        "ORDER BY ALL"
    )
    assert found.fetchall() == [("Block_0", "Net_0"), ("Linear_3", "Block_0")]


def test_a_recursive_frame_counts_once() -> None:
    connection = built(
        [frame("a.py(1): f", 0, 100), frame("b.py(1): g", 10, 80), frame("a.py(1): f", 20, 50)]
    )
    found = connection.sql("SELECT name, calls, total_ns, self_ns FROM frame_ranking ORDER BY ALL")
    assert found.fetchall() == [
        ("a.py(1): f", 2, 100_000, 70_000),
        ("b.py(1): g", 1, 80_000, 30_000),
    ]


def test_modules_equal_those_counted_in_plain_python(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    """Plain Python counts calls and time of each module with a stack of open modules."""
    events = store_of_samples.execute(
        "SELECT tid, events.name, start_ns, dur_ns FROM events INNER JOIN runs USING (run_id) "
        "WHERE runs.name = $1 AND category = 'python_function' "
        "ORDER BY pid, tid, start_ns, dur_ns DESC, event_id",
        [RECORDED_WITH_STACKS],
    ).fetchall()
    expected: dict[str, list[int]] = {}
    around: list[tuple[int, str]] = []  # open modules: end and path of each
    thread = None
    for tid, frame_name, start, dur in events:
        if tid != thread:
            thread, around = tid, []
        while around and around[-1][0] <= start:
            around.pop()
        if frame_name.startswith("nn.Module: "):
            path = "/".join([*([around[-1][1]] if around else []), frame_name[11:]])
            around.append((start + dur, path))
            counted = expected.setdefault(path, [0, 0])
            counted[0] += 1
            counted[1] += dur
    found = store_of_samples.execute(
        "SELECT module, calls, total_ns FROM module_ranking INNER JOIN runs USING (run_id) "
        "WHERE runs.name = $1",
        [RECORDED_WITH_STACKS],
    ).fetchall()
    assert expected
    assert {module: [calls, ns] for module, calls, ns in found} == expected


def test_modules_of_steps_are_in_tree_order() -> None:
    """Among modules with the same parent, the longest comes first. Only the given steps count."""
    connection = built(
        [
            *(host(f"ProfilerStep#{n}", "user_annotation", 1000 * n, 900) for n in (0, 1)),
            *(
                frame(name, 1000 * n + ts, dur)
                for n in (0, 1)
                for name, ts, dur in (
                    ("nn.Module: Net_0", 0, 500),
                    ("nn.Module: A_0", 10, 50),
                    ("nn.Module: B_0", 100, 300),
                    ("nn.Module: C_0", 110, 20 + n),
                )
            ),
        ]
    )
    run = "(SELECT run_id FROM runs)"
    query = "SELECT place, module, calls, total_ns FROM module_ranking_of_steps({}) ORDER BY place"
    assert connection.sql(query.format(f"{run}, 1, 1")).fetchall() == [
        (1, "Net_0", 1, 500_000),
        (2, "Net_0/B_0", 1, 300_000),
        (3, "Net_0/B_0/C_0", 1, 21_000),
        (4, "Net_0/A_0", 1, 50_000),
    ]
    all_steps = connection.sql(query.format(run)).fetchall()
    ranking = connection.sql("SELECT module, calls, total_ns FROM module_ranking").fetchall()
    assert {row[1:] for row in all_steps} == set(ranking)


def test_a_kernel_belongs_to_the_module_that_launched_it() -> None:
    found = model().sql(
        "SELECT module, kernel.name, activities, device_ns, kernel.idle_ns FROM launched_kernels "
        "AS kernel INNER JOIN module_tree USING (run_id, module_id)"
    )
    assert found.fetchall() == [("Net_0/Block_0/Linear_3", "gemm", 2, 20_000, 120_000)]
