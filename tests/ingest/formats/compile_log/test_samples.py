"""Compile logs of samples: compilations, generated kernels, and their calls in the trace."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ingest
from tests.helpers.samples import COMPILED, Samples

LOG = "flux_compiled_b2-rank0.compile.log.gz"
TRACE = "flux_compiled_b2-rank0.trace.json.gz"
REASON = "0/0: tensor 'kwargs['hidden_states']' size mismatch at index 0. expected 1, actual 2"
FRAME = "wrapper (diffusers/utils/peft_utils.py:300)"
Rows = list[tuple[Any, ...]]
Add = Callable[..., duckdb.DuckDBPyConnection]


@pytest.fixture(scope="module")
def flux(sampled: Samples) -> Iterator[Any]:
    """A connection to a store with a run of the compiled FLUX transformer: trace and log."""
    with ingest.connect(sampled.store(COMPILED)) as connection:
        yield connection


def records(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the records of a log and their payloads, read in the simplest way."""
    with gzip.open(path, "rt") as lines:
        text = lines.read()
    for record in re.split(r"^(?=V\d{4} )", text, flags=re.MULTILINE)[1:]:
        header, _, payload = record.partition("\n")
        yield json.loads(header.partition("] ")[2]), re.sub(r"^\t", "", payload, flags=re.MULTILINE)


def test_every_kernel_call_in_the_trace_is_linked_to_the_code(flux: Any, samples: Path) -> None:
    with gzip.open(samples / "compile" / TRACE) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    called = []  # for each call of the graph, its outermost ops in order
    for region in (e for e in events if e["name"].startswith("## Call CompiledFxGraph")):
        end, reached = region["ts"] + region["dur"], region["ts"]
        outermost = []
        for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
            if event["cat"] == "cpu_op" and reached <= event["ts"] < end:
                reached = event["ts"] + event["dur"]
                outermost.append(event["name"])
        called.append(outermost)
    (mappings,) = (
        json.loads(payload)
        for record, payload in records(samples / "compile" / LOG)
        if record.get("artifact", {}).get("name") == "inductor_provenance_tracking_node_mappings"
        and record["frame_compile_id"] == 1
    )
    keys = sorted(mappings["cppCodeToPost"], key=lambda key: int(key.rpartition(":")[2]))
    assert [len(ops) for ops in called] == [56, 56]

    linked: Rows = flux.sql(
        "SELECT compile_id, graph_index, list(kernel || ':' || ordinal ORDER BY ordinal), "
        "list(ops.name ORDER BY ordinal) FROM compiled_calls JOIN ops USING (run_id, event_id) "
        "JOIN compiled_kernels USING (run_id, compile_id, graph_index, ordinal) "
        "GROUP BY region_id, compile_id, graph_index ORDER BY min(ops.start_ns)"
    ).fetchall()
    assert linked == [("0/1", 0, keys, ops) for ops in called]


def test_a_recompilation_has_the_reason_from_torch(flux: Any) -> None:
    assert flux.sql(
        "SELECT compile_id, compiled_frame, is_recompile, reason, cache, graph_ops, guards, "
        "graph_breaks, restarts, is_in_measured_step, evidence FROM compilations ORDER BY 1"
    ).fetchall() == [
        (compile_id, FRAME, recompile, reason, "disabled", 307, 1351, 0, 0, False, "log")
        for compile_id, recompile, reason in (("0/0", False, None), ("0/1", True, REASON))
    ]


def test_compilation_time_is_counted_once(flux: Any, samples: Path) -> None:
    moments: dict[str, list[float]] = {}
    for record, payload in records(samples / "compile" / LOG):
        if "chromium_event" in record and (event := json.loads(payload))["name"] == "dynamo":
            moments.setdefault(event["args"]["compile_id"], []).append(event["ts"])
    lasted = {name: round((end - begin) * 1000) for name, (begin, end) in moments.items()}

    assert lasted == {"0/0": 16_396_248_000, "0/1": 12_943_716_500}
    for query in (
        "SELECT compile_id, sum(self_ns) FROM compile_phases "
        "WHERE compile_id IS NOT NULL GROUP BY compile_id",
        "SELECT compile_id, dur_ns FROM compilations",
    ):
        assert dict(flux.sql(query).fetchall()) == lasted
    began = {name: int(begin * 4) * 250 for name, (begin, _) in moments.items()}
    assert dict(flux.sql("SELECT compile_id, start_ns FROM compilations").fetchall()) == began


# Ten fused kernels, read by hand in transformer_flux.py, embeddings.py, normalization.py and others
# of diffusers, and in the code that Inductor made of them.
BY_HAND = {
    3: [("embeddings", 1066, "torch.nn.functional.silu")],  # embedding of the timestep
    7: [("embeddings", 1066, "torch.nn.functional.silu")],  # embedding of the guidance
    10: [("embeddings", 1981, "torch.nn.functional.silu")],  # embedding of the prompt
    12: [
        ("embeddings", 1385, "operator.add"),
        ("embeddings", 1388, "operator.add"),
        ("normalization", 167, "torch.nn.functional.silu"),
        ("normalization", 167, "torch.nn.functional.silu"),
    ],
    18: [
        ("normalization", 168, "Tensor.chunk"),
        ("normalization", 169, "torch.nn.functional.layer_norm"),
        ("normalization", 169, "operator.getitem"),
        ("normalization", 169, "operator.add"),
        ("normalization", 169, "operator.mul"),
        ("normalization", 169, "operator.getitem"),
        ("normalization", 169, "operator.add"),
    ],
    31: [
        ("attention_dispatch", 3770, "Tensor.permute"),
        ("transformer_flux", 129, "Tensor.flatten"),
        ("transformer_flux", 133, "Tensor.split_with_sizes"),
        ("transformer_flux", 136, "Tensor.contiguous"),
    ],
    38: [
        ("activations", 85, "torch._C._nn.gelu"),
        ("attention", 1741, "torch.nn.functional.dropout"),
    ],
    45: [
        ("transformer_flux", 98, "Tensor.unflatten"),
        ("functional", 3006, "torch.rms_norm"),
        ("embeddings", 988, "Tensor.reshape"),
        ("embeddings", 988, "Tensor.unbind"),
        ("embeddings", 989, "operator.neg"),
        ("embeddings", 989, "torch.stack"),
    ],
    53: [
        ("transformer_flux", 396, "torch._C._nn.gelu"),
        ("attention_dispatch", 3770, "Tensor.permute"),
        ("transformer_flux", 129, "Tensor.flatten"),
        ("transformer_flux", 404, "torch.cat"),
    ],
    55: [
        ("transformer_flux", 405, "Tensor.unsqueeze"),
        ("transformer_flux", 406, "operator.mul"),
        ("transformer_flux", 407, "operator.add"),
        ("transformer_flux", 411, "operator.getitem"),
        ("normalization", 349, "torch.chunk"),
        ("normalization", 350, "torch.nn.functional.layer_norm"),
        ("normalization", 350, "operator.add"),
        ("normalization", 350, "operator.getitem"),
        ("normalization", 350, "operator.mul"),
        ("normalization", 350, "operator.getitem"),
        ("normalization", 350, "operator.add"),
    ],
}


@pytest.mark.parametrize("ordinal", BY_HAND)
def test_a_fused_kernel_stands_for_the_ops_of_these_lines(flux: Any, ordinal: int) -> None:
    found = flux.execute(
        r"SELECT regexp_extract(filename, '(\w+)\.py$', 1), line, op FROM compiled_ops "
        "WHERE compile_id = '0/1' AND kernel_ordinal = $1 ORDER BY ordinal",
        [ordinal],
    ).fetchall()
    assert found == BY_HAND[ordinal]


def test_every_op_of_the_program_occurs_once_and_has_one_kernel(flux: Any) -> None:
    for compile_id in ("0/0", "0/1"):
        ((positions, ops),) = flux.execute(
            "SELECT list(ordinal ORDER BY ordinal), count(DISTINCT node) FROM compiled_ops "
            "WHERE compile_id = $1",
            [compile_id],
        ).fetchall()
        assert positions == list(range(1, 308))
        assert ops == 307  # torch's `graph_op_count`
    assert flux.sql(
        "SELECT op, count(*) FROM compiled_ops JOIN compiled_kernels AS kernel "
        "ON kernel_ordinal = kernel.ordinal AND compiled_ops.compile_id = kernel.compile_id "
        "WHERE kernel.kind = 'extern' AND kernel.compile_id = '0/1' GROUP BY op ORDER BY op"
    ).fetchall() == [
        ("torch._C._nn.linear", 30),
        ("torch._C._nn.scaled_dot_product_attention", 2),
    ]
    assert flux.sql(
        "SELECT DISTINCT op FROM compiled_ops "
        "WHERE compile_id = '0/1' AND kernel_ordinal IS NULL ORDER BY op"
    ).fetchall() == [("Tensor.float",), ("Tensor.to",), ("operator.getitem",), ("torch.cat",)]


def test_a_log_alone_is_a_run(samples: Path, store: ingest.Store) -> None:
    added = store.add(samples / "compile" / LOG)
    assert added.run_id.startswith("flux_compiled_b2-rank0-")
    connection = ingest.connect(store.path)
    assert connection.sql(
        "SELECT is_recompile, reason, is_in_measured_step FROM compilations ORDER BY start_ns"
    ).fetchall() == [(False, None, None), (True, REASON, None)]
    assert connection.sql("SELECT count(*) FROM compiled_kernels").fetchall() == [(55 + 56,)]
    assert connection.sql(
        "SELECT compilations, recompiles, started_at::VARCHAR FROM run_overview"
    ).fetchall() == [(None, None, "2026-11-21 06:52:54.063246")]


def test_a_trace_alone_shows_compilations_and_graphs_compiled_before(
    store_of_samples: duckdb.DuckDBPyConnection,
) -> None:
    query = (
        "SELECT compile_id, is_recompile, dur_ns, is_in_measured_step, evidence, reason "
        "FROM compilations WHERE run_id LIKE $1 ORDER BY compile_id"
    )
    recompiled = store_of_samples.execute(query, ["flux_compile_recompile-%"]).fetchall()
    assert recompiled == [  # the lengths of the trace's two `dynamo` ops
        ("0/0", False, 48_774_655_997, True, "trace", None),
        ("0/1", True, 41_089_950_704, True, "trace", None),
    ]
    steady = store_of_samples.execute(query, ["flux_compiled_steady_bs5-%"]).fetchall()
    assert steady == [("0/1", True, None, False, "trace", None)]
    # Its CUDA graphs were recorded in the measured time, so it may have been compiled there too.
    recording = store_of_samples.execute(query, ["mi300_flux1_graph_capture-%"]).fetchall()
    assert recording == [("0/0", False, None, None, "trace", None)]
    assert store_of_samples.sql(
        "SELECT compilations, recompiles, compile_ns FROM run_metrics "
        "WHERE run_id LIKE 'mi300_flux1_graph_capture-%'"
    ).fetchall() == [(None, None, None)]
    assert store_of_samples.sql(
        "SELECT name, compilations, recompiles FROM run_overview "
        "WHERE name LIKE 'flux_%' ORDER BY name"
    ).fetchall() == [
        ("flux_compile_recompile", 2, 1),
        ("flux_compiled_steady_bs5", 0, 0),
        ("flux_eager_full", 0, 0),
        ("flux_eager_min", 0, 0),
    ]


def test_a_log_of_mid_2025_has_its_graph_and_kernels(samples: Path, store: ingest.Store) -> None:
    """Its mappings follow the record of the cache, and their keys have no ordinals."""
    store.add(samples / "field" / "programs" / "provenance_no_handles.log.gz")
    connection = ingest.connect(store.path)
    found = connection.sql(
        "SELECT graph_index, kernel, list_sort(aten_nodes) FROM compiled_kernels ORDER BY ordinal"
    ).fetchall()

    mm = (0, "extern_kernels.mm", ["mm_default", "mm_default_1", "mul"])
    gelu = ["add", "add_tensor", "erf", "mul_1", "mul_2", "mul_3"]
    assert found == [
        mm,
        (0, "triton_poi_fused_addmm_relu_sigmoid_0", ["add_tensor_1", "relu", "sigmoid"]),
        (0, "triton_poi_fused_mul_1", ["mul"]),
        mm,
        (0, "triton_poi_fused_addmm_gelu_2", gelu),
    ]
    assert connection.sql("SELECT warnings FROM sources").fetchall() == [([],)]
