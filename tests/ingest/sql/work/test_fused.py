"""Work of fused kernels of torch.compile, from compile logs.

Expected figures are arithmetic: an elementwise operator has one operation for each element of its
result, a reduction one for each element of its input, and a product two for each pair.
"""

import gzip
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import ingest
from tests.builders.compile_logs import artifact, of, span, trace
from tests.builders.events import Event
from tests.builders.relations import Run, built
from tests.helpers.samples import COMPILED, Samples

LOG = "compile/flux_compiled_b2-rank0.compile.log.gz"
ELEMENTWISE = "add|sub|mul|div|neg|exp|sin|cos|rsqrt|pow|reciprocal|tanh"
REDUCTIONS = "mean|var_mean"


def test_the_nodes_of_a_real_graph_count_once(sampled: Samples, samples: Path) -> None:
    """The expected sum reads the printed graph anew. The batch of the calls is 2."""
    text = gzip.decompress((samples / LOG).read_bytes()).decode()
    graph = text.split('"inductor_post_grad_graph"')[2].partition("\nV")[0]
    mappings = json.loads(re.findall(r'\n\t(\{"preToPost.*)', text)[1])["cppCodeToPost"]
    fused = {node for kernel, nodes in mappings.items() if "fused" in kernel for node in nodes}

    def elements(shape: str) -> int:
        sizes = filter(None, shape.replace("s2", "2").split(", "))
        return math.prod(math.prod(map(int, size.split("*"))) for size in sizes)

    count = {n: elements(s) for n, s in re.findall(r'(\w+): "\w+\[([s\d*, ]*)\]', graph)}
    calls = re.findall(
        r"\n\t +(\w+)(?:: \"[^\"]*\")? = torch\.ops\.aten\.(\w+)\.\w+\((\w+)?", graph
    )
    expected = sum(
        count[node if re.fullmatch(ELEMENTWISE, op) else first]
        for node, op, first in calls
        if node in fused and re.fullmatch(f"{ELEMENTWISE}|{REDUCTIONS}", op)
    )
    with ingest.connect(sampled.store(COMPILED)) as connection:
        found = connection.sql(
            "SELECT sum(flops), count(*), count(flops) FROM op_work WHERE kind = 'fused' "
            "GROUP BY run_id"
        ).fetchall()
        copies = connection.sql(
            "SELECT DISTINCT flops, bytes_read, bytes_written FROM op_work JOIN ops "
            "ON op_id = event_id WHERE name LIKE '%_view_10'"
        ).fetchall()
    assert found == [(2 * expected, 48, 48)]
    # Rotary embedding of query and key in front of attention: 6 operators on [2, 80, 2, 16] each.
    tensor = 2 * 80 * 2 * 16
    tables = 2 * 80 * 16
    inputs = 2 * 2 * 16 * 32 // 2 + 2 * 64 * 32 + 4 * tensor + tables
    assert copies == [(6 * tensor, 4 * inputs, 4 * 3 * tensor)]


# A graph with symbolic sizes. A library computes `mm`, which the log also lists for a fused kernel.
INPUTS = 'arg0_1: "Sym(s0)", arg1_1: "f32[s0, 4][4, 1]", arg2_1: "bf16[4, 8][8, 1]"'
NODES = {
    "mm": ("f32[s0, 8]", "aten.mm.default(arg1_1, arg2_1)"),
    "relu": ("f32[s0, 8]", "aten.relu.default(mm)"),
    "sum_1": ("f32[s0]", "aten.sum.dim_IntList(relu, [1])"),
    "view": ("f32[s0, 1]", "aten.reshape.default(sum_1, [arg0_1, 1])"),
    "sub": ("f32[s0, 8]", "aten.sub.Tensor(relu, view)"),
    "mm_1": ("f32[s0, 4]", "aten.mm.default(sub, arg3_1)"),
    "slice_1": ("f32[s0, 2]", "aten.slice.Tensor(sub, 1, 0, 2)"),
    "exp": ("f32[s0, 2]", "aten.exp.default(slice_1)"),
    "mystery": ("f32[s0, 2]", "aten.mystery.default(exp)"),
    "add": ("f32[s0 + 1]", "aten.add.Tensor(mystery, 1)"),
}
CODE = """
triton_red_fused_mm_0 = async_compile.triton('triton_red_fused_mm_0', '''
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}},
def triton_red_fused_mm_0(in_out_ptr0, out_ptr0, xnumel):
    tmp0 = tl.load(in_out_ptr0 + (x0), xmask)
    tl.store(in_out_ptr0 + (x0), tmp1, xmask)
    tl.store(out_ptr0 + (x0), tmp2, xmask)
''', device_str='cuda')
cpp_fused_sub_1 = async_compile.cpp_pybinding(['float*', 'const float*', 'float*'], r'''
extern "C"  void  kernel(float* in_out_ptr0,
                       const float* in_ptr0,
                       const float* in_ptr1,
                       bfloat16* out_ptr0,
                       const int64_t ks0)
{
    auto tmp0 = in_ptr0[x0];
    tmp3.store(in_out_ptr0 + static_cast<int64_t>(x0));
    auto tmp4 = in_out_ptr0[x0];
}
''')
cpp_fused_exp_2 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
extern "C"  void  kernel(const float* in_ptr0, float* out_ptr0) {}
''')
def call(args):
    arg0_1, arg1_1, arg2_1, arg3_1 = args
    s0 = arg0_1
    assert_size_stride(arg1_1, (s0, 4), (4, 1))
    buf0 = empty_strided_cuda((s0, 8), (8, 1), torch.float32)
    # [Provenance debug handles] extern_kernels.mm:1
    extern_kernels.mm(arg1_1, arg2_1, out=buf0)
    buf1 = buf0; del buf0  # reuse
    buf2 = empty_strided_cuda((s0, ), (1, ), torch.float32)
    # [Provenance debug handles] triton_red_fused_mm_0:2
    triton_red_fused_mm_0.run(buf1, buf2, s0, stream=stream0)
    buf3 = empty_strided_cuda((s0, 2), (2, 1), torch.float32)
    buf4 = buf3; del buf3  # reuse
    buf5 = empty_strided_cuda((s0, 8), (8, 1), torch.float32)
    # [Provenance debug handles] cpp_fused_sub_1:3
    cpp_fused_sub_1(buf4, buf1, reinterpret_tensor(buf5, (s0, 2), (8, 1), 0), buf5, s0)
    # [Provenance debug handles] cpp_fused_exp_2:4
    cpp_fused_exp_2(buf5, buf3)
    return (buf3, )
"""
KERNELS = {
    "extern_kernels.mm:1": ["mm", "arg1_1"],
    "triton_red_fused_mm_0:2": ["relu", "mm", "sum_1"],
    # It reads `sum_1`, which counts above.
    "cpp_fused_sub_1:3": ["sub", "view", "sum_1", "mm_1"],
    "cpp_fused_exp_2:4": ["exp", "slice_1"],
}


def log(
    kernels: Mapping[str, Sequence[str]] = KERNELS,
    code: str = CODE,
    nodes: Mapping[str, tuple[str, str]] = NODES,
) -> str:
    """Return the log of the graph, with the nodes of each kernel."""
    graph = [f"    def forward(self, {INPUTS}):"]
    graph += [
        f'        {name}: "{shape}[1, 1]cpu" = torch.ops.{expression};  arg9_1 = None'
        for name, (shape, expression) in nodes.items()
    ]
    mappings = json.dumps({"cppCodeToPost": kernels, "postToPre": {}, "version": 2.0})
    return (
        artifact("0/0", "inductor_post_grad_graph", "\n".join(graph))
        + of("0/0", {"inductor_output_code": {}}, code)
        + artifact("0/0", "inductor_provenance_tracking_node_mappings", mappings)
    )


def call(*names: str, rows: int, at_us: float = 0) -> list[Event]:
    """Return a call of the graph with these operators inside. Its first size is `rows`."""
    events = [span("## Call CompiledFxGraph None ##", at_us, 100, "user_annotation")]
    for n, name in enumerate(names):
        dims, types = [], []
        if name == "aten::mm":
            dims, types = [[rows, 4], [4, 8], [rows, 8]], ["float", "c10::BFloat16", "float"]
        if name.startswith("triton"):
            dims, types = [[rows, 8], [rows], []], ["float", "float", "Scalar"]
        recorded = {"Input Dims": dims, "Input type": types} if dims else {}
        events.append(span(name, at_us + 2 + 10 * n, 8, **recorded))
    return events


NAMES = ("aten::mm", "triton_red_fused_mm_0", "graph_0_cpp_fused_sub_1", "graph_0_cpp_fused_exp_2")


COLUMNS = "formula, flops, bytes_read, bytes_written, bytes_at_most, flops_reason"


def work(text: str, *calls: list[Event], columns: str = COLUMNS) -> list[Any]:
    """Return the name and these columns of `op_work` of each call."""
    events = [event for each in calls for event in each]
    files = {"compile.log": text, "trace.json": trace(*events)}
    found = built(Run(files)).sql(f"""
        SELECT regexp_replace(ops.name, '^graph_0_', ''), {columns}
        FROM op_work INNER JOIN ops ON op_id = event_id
        ORDER BY ops.start_ns
    """)
    return found.fetchall()


def test_a_node_counts_in_one_kernel_and_symbolic_sizes_are_those_of_the_call() -> None:
    """A kernel with a product has those of the product alone. A slice makes bytes a bound."""
    found = work(log(), call(*NAMES, rows=3), call(*NAMES, rows=5, at_us=200))
    assert found == [
        row
        for n in (3, 5)
        for row in [
            ("aten::mm", "mm", 64 * n, 16 * n + 64, 32 * n, None, None),
            ("triton_red_fused_mm_0", "triton", 16 * n, 32 * n, 36 * n, None, None),
            ("cpp_fused_sub_1", "fused_product", 64 * n, 32 * n, 24 * n, None, None),
            ("cpp_fused_exp_2", "cpp", 2 * n, None, None, 40 * n, None),
        ]
    ]


def test_the_work_is_unknown_without_a_formula_a_size_or_the_nodes_of_a_call() -> None:
    unlisted = work(log(KERNELS | {"cpp_fused_exp_2:4": ["exp", "mystery"]}), call(*NAMES, rows=3))[
        -1
    ]
    assert unlisted == ("cpp_fused_exp_2", "cpp", None, 96, 24, None, "formula")
    no_product = work(log(KERNELS | {"cpp_fused_exp_2:4": ["exp", "add"]}), call(*NAMES, rows=3))
    assert no_product[-1] == ("cpp_fused_exp_2", "cpp", None, 96, 24, None, "inputs")
    # Nothing in this call shows the size. The arguments of the Triton kernel are still a bound.
    kernels = {key: KERNELS[key] for key in KERNELS if "extern" not in key}
    code = re.sub(r"    .*extern_kernels.*\n", "", CODE)
    sizeless = work(log(kernels, code), call(*NAMES[1:], rows=3))
    assert sizeless == [
        ("triton_red_fused_mm_0", "fused_product", None, None, None, 4 * (24 + 3), "inputs")
    ]
    # Torch of mid 2025 logs the nodes of a kernel, not of its calls. Here it is called twice.
    kernels = {key.partition(":")[0]: nodes for key, nodes in KERNELS.items()}
    code = re.sub(r"    # \[Provenance.*\n", "", CODE)
    code = code.replace("    return", "    cpp_fused_exp_2(buf5, buf3)\n    return")
    repeated = work(log(kernels, code), call(*NAMES, NAMES[-1], rows=3))
    assert repeated == [
        ("aten::mm", "mm", 192, 112, 96, None, None),
        ("triton_red_fused_mm_0", "triton", 48, None, None, 108, None),
        ("cpp_fused_sub_1", "fused_product", 192, None, None, None, None),
    ]


def test_a_size_is_unknown_if_arguments_contradict_each_other() -> None:
    """By one argument of `mm`, `s0` is the number of rows, and by the other one it is 8."""
    text = log().replace("bf16[4, 8]", "bf16[4, s0]")
    found = work(text, call(*NAMES, rows=3), call(*NAMES, rows=8, at_us=200))
    assert [row for row in found if row[0] == "triton_red_fused_mm_0"] == [
        ("triton_red_fused_mm_0", "triton", None, None, None, 4 * (24 + 3), "inputs"),
        ("triton_red_fused_mm_0", "triton", 16 * 8, 32 * 8, 36 * 8, None, None),
    ]


# Two nodes of a kernel, and the type of its peak if `s0` is 3 and if it is 30.
COS = "aten.cos.default(sub)"
PRODUCT = "aten.mm.default(sub, arg3_1)"  # 16 operations for each element of its result
TYPES = {
    "the first one is larger": (("f64[s0, 8]", COS), ("f32[s0, 2]", COS), "float64", "float64"),
    "the second one is larger": (("f64[s0, 2]", COS), ("f32[s0, 8]", COS), "float32", "float32"),
    "the call decides": (("f64[20]", COS), ("f32[s0, 2]", COS), "float64", "float32"),
    "products": (("bf16[s0, 2]", PRODUCT), ("f32[s0, 8]", PRODUCT), "float32", "float32"),
    "other products": (("bf16[s0, 8]", PRODUCT), ("f32[s0, 2]", PRODUCT), "bfloat16", "bfloat16"),
}


@pytest.mark.parametrize("case", TYPES)
def test_the_type_of_the_largest_result_decides_the_peak(case: str) -> None:
    first, second, *types = TYPES[case]
    text = log(
        KERNELS | {"cpp_fused_exp_2:4": ["first", "second"]},
        nodes=NODES | {"first": first, "second": second},
    )
    calls = call(*NAMES, rows=3), call(*NAMES, rows=30, at_us=200)
    found = work(text, *calls, columns="dtype, precision")
    assert [row[1:] for row in found if row[0] == "cpp_fused_exp_2"] == [
        (each, each) for each in types
    ]


def test_without_readable_code_only_operations_are_known() -> None:
    code = f"{CODE}\n    return (("
    assert work(log(code=code), call(*NAMES, rows=3))[1:] == [
        ("triton_red_fused_mm_0", "triton", 48, None, None, 108, None),
        ("cpp_fused_sub_1", "fused_product", 192, None, None, None, None),
        ("cpp_fused_exp_2", "cpp", 6, None, None, None, None),
    ]


def test_without_a_log_only_the_arguments_of_triton_kernels_are_known() -> None:
    assert work("", call(*NAMES, rows=3)) == [
        ("aten::mm", "mm", 192, 112, 96, None, None),
        ("triton_red_fused_mm_0", "triton", None, None, None, 4 * (24 + 3), "formula"),
    ]
