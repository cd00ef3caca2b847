"""Ranks that ran something else, on small runs, and on a real one compared with its files."""

import gzip
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ingest
from tests.builders import compile_logs
from tests.builders.events import Event, host, kernel, op
from tests.builders.relations import Run, built, ranks
from tests.helpers.samples import TWO_RANKS, Samples

STEP = 1000.0  # length of a step, µs
Called = tuple[str, str, Sequence[int]]  # operator, kernel, shape of its input
MM: Called = ("aten::mm", "gemm", [2, 3])
ADD: Called = ("aten::add", "add", [2])


def step(number: int, *called: Called, name: str = "ProfilerStep#{}") -> list[Event]:
    """Return a step whose operators launch a kernel each."""
    start = number * STEP
    events = [host(name.format(number), "user_annotation", start, STEP - 1)]
    for place, (operator, launched, shape) in enumerate(called):
        at, key = start + 20 * place + 1, 100 * number + place + 1
        args = {"Input Dims": [shape], "Input type": ["float"]}
        events += [
            op(operator, at, 15, args=args),
            host("cudaLaunchKernel", "cuda_runtime", at + 1, 2, {"correlation": key}),
            kernel(launched, at + 5, 5, correlation=key),
        ]
    return events


def differences(
    run: Run, columns: str = "differing_ranks, other_ranks, min_count, max_count"
) -> list[Any]:
    query = f"SELECT kind, name, {columns} FROM rank_divergence ORDER BY kind, name, lowest_peer"
    return built(run).sql(query).fetchall()


def test_ranks_that_do_the_same_do_not_differ() -> None:
    assert differences(ranks([step(1, MM, ADD)] * 3)) == []


def test_operators_that_some_ranks_lack_or_call_more_often() -> None:
    usual, other = step(1, MM, ADD), step(1, MM, MM, ("aten::sort", "sort", [2]))
    assert differences(ranks([usual, usual, other, usual])) == [
        ("op", "aten::add", [2], [0, 1, 3], 0, 1),
        ("op", "aten::mm", [2], [0, 1, 3], 1, 2),
        ("op", "aten::sort", [2], [0, 1, 3], 0, 1),
    ]


def test_the_lowest_rank_decides_between_equally_many() -> None:
    times = [1, 2, 2, 1, 3]
    run = ranks([step(1, *[MM] * count) for count in times])
    assert differences(run, "variants, differing_ranks, other_ranks") == [
        ("op", "aten::mm", 3, [1, 2, 4], [0, 3])
    ]


def test_operators_with_other_shapes() -> None:
    usual, other = step(1, MM, MM), step(1, MM, ("aten::mm", "gemm", [4, 3]))
    assert differences(ranks([usual, other, usual])) == [("shape", "aten::mm", [1], [0, 2], 1, 2)]


def test_operators_that_launch_other_kernels() -> None:
    usual, other = step(1, MM), step(1, ("aten::mm", "cutlass_gemm", [2, 3]))
    assert differences(ranks([usual, usual, other])) == [("kernel", "aten::mm", [2], [0, 1], 1, 1)]


def test_a_window_that_begins_earlier_is_no_difference() -> None:
    """Rank 1 also has step 1, and the end of the step before."""
    before = [op("aten::sort", 990, 5)]
    run = ranks([step(2, MM) + step(3, MM, ADD), before + step(1, MM, ADD) + step(2, MM)])
    assert differences(run, "steps") == []
    found = built(ranks([step(2, MM) + step(3, MM), step(1, MM) + step(2, MM, ADD)]))
    query = "SELECT kind, name, steps, differing_ranks, max_count FROM rank_divergence"
    assert found.sql(query).fetchall() == [("op", "aten::add", 1, [1], 1)]


def test_steps_without_the_profilers_numbers_are_compared_if_there_are_equally_many() -> None:
    def loop(*steps: Sequence[Called]) -> list[Event]:
        made = (step(n, *called, name="train {}") for n, called in enumerate(steps))
        return [event for events in made for event in events]

    equally_many = ranks([loop([MM], [MM]), loop([MM], [MM, ADD])])
    assert differences(equally_many, "steps, differing_ranks") == [("op", "aten::add", 2, [1])]
    assert differences(ranks([loop([MM], [MM]), loop([MM], [MM, ADD], [MM])])) == []


def test_recordings_without_steps_are_not_compared() -> None:
    assert differences(ranks([[op("aten::mm")], [op("aten::mm"), op("aten::add", 3)]])) == []


def test_compiled_code_that_some_ranks_do_not_call() -> None:
    def compiled(*regions: str) -> list[Event]:
        calls = []
        for place, region in enumerate(regions):
            at = STEP + 20 * place + 1
            calls += [
                op(f"Torch-Compiled Region: {region}", at, 15),
                # The hash differs on each device.
                op(f"## Call CompiledFxGraph f{region[-1]}{id(regions)} ##", at + 1, 10),
            ]
        return [*step(1), op("aten::mm", STEP + 900, 5), *calls]

    usual = [compiled("0/0", "0/0") for _ in range(2)]
    assert differences(ranks([*usual, compiled("0/0", "0/1")])) == [
        ("graph", "Torch-Compiled Region: 0/0", [2], [0, 1], 1, 2),
        ("graph", "Torch-Compiled Region: 0/1", [2], [0, 1], 0, 1),
        ("graph", "compiled graphs", [2], [0, 1], 1, 2),
    ]


def log(rank: int, *compile_ids: str) -> str:
    """Return the compile log of a rank, which compiled a function of each frame."""
    frames = [{"co_name": f"f{compile_id[0]}", "x": rank} for compile_id in compile_ids]
    return "".join(
        compile_logs.of(compile_id, {"compilation_metrics": frame})
        for compile_id, frame in zip(compile_ids, frames, strict=True)
    )


def test_code_that_some_ranks_recompiled_before_the_recording() -> None:
    """Rank 3 has no log: what it compiled is unknown."""
    traces = dict(enumerate([step(1, MM)] * 4))
    files = {
        f"rank{rank}.json": {"distributedInfo": {"rank": rank}, "traceEvents": events}
        for rank, events in traces.items()
    }
    logs = {
        "rank0.compile.log": log(0, "0/0", "1/0"),
        "rank1.compile.log": log(1, "0/0", "1/0", "1/1"),
        "rank2.compile.log": log(2, "0/0", "1/0"),
    }
    assert differences(
        Run(files | logs), "steps, differing_ranks, other_ranks, min_count, max_count"
    ) == [("compilation", "f1", None, [1], [0, 2], 1, 2)]
    assert differences(Run(files)) == []


def test_code_that_some_ranks_recompiled_in_the_compared_steps() -> None:
    """Rank 1 compiled in step 1, which rank 0 did not record. Rank 2 compiled in step 3."""
    compiling, usual = "entire_frame_compile (dynamo_timed)", step(2, MM) + step(3, MM)
    before = [*step(1, MM), op(compiling, STEP + 500, 80)]
    run = ranks([usual, before + usual, [*usual, op(compiling, 3 * STEP + 500, 80)]])
    assert differences(run) == [("compilation", "(unknown)", [2], [0, 1], 0, 1)]


def test_stages_of_a_pipeline_may_differ() -> None:
    """Ranks 0 and 1 are the first stage, 2 and 3 the second one."""
    config = [
        {"pg_name": str(place), "pg_desc": name, "pg_size": len(members), "ranks": members}
        for place, (name, members) in enumerate(
            [("default_pg", [0, 1, 2, 3]), ("mesh_pp", [0, 2]), ("mesh_pp", [1, 3])]
        )
    ]
    traces = [step(1, MM), step(1, MM), step(1, ADD), step(1, ADD, ADD)]
    files = {
        f"rank{rank}.json": {
            "distributedInfo": {"rank": rank, "pg_config": config},
            "traceEvents": events,
        }
        for rank, events in enumerate(traces)
    }
    found = differences(Run(files), "lowest_peer, differing_ranks, other_ranks, max_count")
    assert found == [("op", "aten::add", 2, [3], [2], 2)]


def calls_in(path: Path) -> Counter[str]:
    """Return how often each backward operator is named in a trace."""
    text = gzip.decompress(path.read_bytes()).decode()
    return Counter(re.findall(r'"name": ?"(\w+Backward[0-9])"', text))


def test_the_number_of_calls_in_a_real_run(sampled: Samples) -> None:
    """All its operators are in the two steps that both ranks recorded."""
    first, second = (calls_in(path) for path in sampled.files(TWO_RANKS))
    with ingest.connect(sampled.store(TWO_RANKS)) as connection:
        found = connection.execute(
            "SELECT name, differing_ranks, min_count, max_count FROM rank_divergence "
            r"WHERE kind = 'op' AND regexp_full_match(name, '\w+Backward[0-9]') ORDER BY name"
        ).fetchall()
    assert found == [
        (name, [1], min(first[name], second[name]), max(first[name], second[name]))
        for name in sorted(first | second)
        if first[name] != second[name]
    ]
    assert ("GatherBackward0", [1], 0, 2) in found
