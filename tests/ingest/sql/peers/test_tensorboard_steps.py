"""The parts of steps by TensorBoard's plugin, compared with torch-tb-profiler 0.4.3."""

import duckdb
import pytest

from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import built

PARTS = "kernel, memcpy, memset, communication, runtime, data_loader, cpu, other, dur"
COLUMNS = ", ".join(f"{part}_ns" for part in PARTS.split(", "))

# Results in µs of the plugin's `OverallParser` for each unchanged file.
AS_RECORDED = {
    "v100_resnet50_workers0": [
        (5, 98598, 1941, 90, 0, 2796, 69317, 14091, 1115, 187948),
        (6, 98570, 1947, 89, 0, 2762, 57669, 12968, 1148, 175153),
        (7, 98596, 1931, 91, 0, 2877, 61257, 13768, 1213, 179733),
        (8, 98623, 1938, 89, 0, 2841, 56453, 13420, 1200, 174564),
        (9, 98504, 1937, 87, 0, 2788, 62690, 15025, 1141, 182172),
        (10, 98641, 1798, 88, 0, 3381, 48185, 12773, 1117, 165983),
    ],
    "v100_resnet50_workers4": [
        (5, 99778, 3606, 98, 0, 41028, 4341, 27460, 5995, 182306),
        (6, 99208, 2948, 98, 0, 3406, 0, 16404, 4119, 126183),
        (7, 99114, 2949, 98, 0, 3417, 6, 19521, 2076, 127181),
        (8, 99021, 2975, 97, 0, 3544, 0, 15464, 1978, 123079),
        (9, 98791, 3596, 97, 0, 8275, 1370, 43905, 7427, 163461),
        (10, 98956, 2885, 98, 0, 3714, 1400, 13235, 3910, 124198),
    ],
    "cpu_only": [(551, 0, 0, 0, 178777.427, 0, 0, 0, 31331.735, 210109.162)],
}

# Results after the events were given names that the plugin knows: calls of the runtime and the
# driver are `Runtime`, annotations of data loaders are operators, host events of NCCL are
# `nccl:all_reduce`, communication kernels have the external id of one of these, and there is no
# `gpu_user_annotation`.
WITH_NAMES_OF_2021 = {
    "h100_owlv2": [
        (6, 551451.61, 14570.26, 737.6, 0, 9609.75, 619045.01, 7280.62, 8487.41, 1211182.25),
    ],
    "nccl_training_control": [
        (1009, 45364, 2889, 185, 9948, 3074, 71, 10161, 3964, 75656),
        (1010, 47024, 3074, 176, 12309, 3356, 67, 7868, 2926, 76800),
        (1011, 48105, 3143, 226, 14223, 1845, 73, 6497, 2122, 76234),
        (1012, 47228, 4125, 219, 14514, 1868, 70, 4315, 4388, 76727),
        (1013, 47039, 3185, 193, 18968, 1990, 68, 4404, 2626, 78473),
        (1014, 46576, 3107, 175, 17617, 2442, 71, 7210, 3922, 81120),
    ],
    "alexnet_cuda_sync": [(None, 10630, 55503, 8, 0, 42217684, 0, 1053919, 10812, 43348556)],
}


@pytest.mark.parametrize("run", [*AS_RECORDED, *WITH_NAMES_OF_2021])
def test_steps_have_the_parts_of_the_plugin(
    run: str, store_of_samples: duckdb.DuckDBPyConnection
) -> None:
    named = store_of_samples.execute("SELECT run_id FROM runs WHERE name = $1", [run])
    rows = store_of_samples.execute(
        f"SELECT step, {COLUMNS} FROM tensorboard_steps WHERE run_id = $1 ORDER BY start_ns",
        named.fetchall()[0],
    ).fetchall()
    expected = (AS_RECORDED | WITH_NAMES_OF_2021)[run]
    assert [row[0] for row in rows] == [row[0] for row in expected]
    for row, [_, *of_plugin] in zip(rows, expected, strict=True):
        assert [ns / 1000 for ns in row[1:]] == pytest.approx(of_plugin, abs=0.02)


def test_the_parts_of_each_step_add_up_to_it(store_of_samples: duckdb.DuckDBPyConnection) -> None:
    sums = COLUMNS.removesuffix(", dur_ns").replace(",", " +")
    rows = store_of_samples.sql(
        f"SELECT count(*), count(*) FILTER ({sums} <> dur_ns) FROM tensorboard_steps"
    ).fetchall()
    ((steps, wrong),) = rows
    assert steps > 30
    assert wrong == 0


def test_a_step_lasts_until_its_activities_have_ended() -> None:
    def launched(at: float, activity: Event) -> list[Event]:
        call = host("cudaLaunchKernel", "cuda_runtime", at, 2, {"correlation": round(at)})
        return [call, activity | {"args": activity["args"] | {"correlation": round(at)}}]

    events = [
        *(host(f"ProfilerStep#{n}", "user_annotation", 100 * n, 100) for n in (1, 2, 3)),
        *launched(95, kernel("earlier", 102, 10)),
        *launched(110, kernel("gemm", 120, 110)),
        *launched(210, kernel("Memcpy HtoD", 225, 25, "gpu_memcpy")),
        *launched(220, kernel("Memset", 245, 15, "gpu_memset")),
        op("aten::mm", 105, 35),
        host("nccl:all_reduce", "user_annotation", 250, 15),
        host("enumerate(DataLoader)#_Iter.__next__", "user_annotation", 260, 20, tid=2),
        host("cudaStreamSynchronize", "cuda_runtime", 270, 5),
        op("aten::add", 278, 12),
        op("aten::add", 305, 10),
    ]
    rows = built(events).sql(
        f"SELECT step, start_ns, {COLUMNS}, activities, is_complete FROM tensorboard_steps"
    )
    assert [
        (step, start / 1000, [ns / 1000 for ns in parts], activities, is_complete)
        for step, start, *parts, activities, is_complete in rows.fetchall()
    ] == [
        (1, 112, [110, 0, 0, 0, 0, 0, 8, 0, 118], 1, True),  # after `earlier`, until `gemm` ends
        (2, 230, [0, 20, 10, 5, 5, 10, 10, 10, 70], 2, True),
        (3, 300, [0, 0, 0, 0, 0, 0, 10, 90, 100], 0, False),  # launched nothing
    ]


def test_outliers_have_the_part_that_differs_most(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    rows = store_of_samples.sql(
        "SELECT step, difference_ns, round(percent, 1), part, part_difference_ns "
        "FROM tensorboard_outliers INNER JOIN runs USING (run_id) "
        "WHERE name LIKE 'v100_resnet50_%'"
    ).fetchall()
    # With four workers, the median of the six steps is 126.183 ms. Without workers, no step is far
    # from the median.
    assert rows == [
        (5, 56_123_000, 44.5, "runtime", 37_484_000),
        (9, 37_278_000, 29.5, "cpu", 27_501_000),
    ]
