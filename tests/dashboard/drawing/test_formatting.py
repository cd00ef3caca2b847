"""Formatting of numbers and names, and rendering of queries."""

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.drawing import colours, formatting, tables
from ingest.server import call, select

DURATIONS = [
    (0, "0 µs"),
    (800, "0.800 µs"),
    (999.6, "1.00 µs"),
    (12_345, "12.3 µs"),
    (999_499, "999 µs"),
    (999_600, "1.00 ms"),
    (511_528_902, "512 ms"),
    (12_920_244_000, "12.9 s"),
    (1_234_000_000_000, "1,234 s"),
    (None, "–"),
    (float("nan"), "–"),
]
SIZES = [(100, "100 bytes"), (2048, "2.00 KiB"), (5 << 20, "5.00 MiB"), (3 << 31, "6.00 GiB")]
SHORT_NAMES = [
    ("aten::conv2d", "aten::conv2d"),
    ("bubble", "bubble"),
    ("(no op)", "(no op)"),
    ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
    ("triton_poi_fused_add_mul_3", "triton_poi_fused_add_mul_3"),
    ("torch/nn/modules/conv.py(536): _conv_forward",) * 2,
    ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",) * 2,
    ("ncclKernel_AllReduce_Sum_float(ncclWorkElem)", "ncclKernel_AllReduce_Sum_float"),
    (
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float>(float*, int)",
        "cunn_SoftMaxForward",
    ),
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, "
        "float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, "
        "3ul> >(int, at::native::BinaryFunctor<float>)",
        "vectorized_elementwise_kernel<MulFunctor>",
    ),
    (
        "void cutlass::Kernel2<cutlass_75_tensorop_s1688gemm_tn_align1>(cutlass::Params)",
        "cutlass_75_tensorop_s1688gemm_tn_align1",
    ),
    (
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x96x64_MI16x16x1_SN_LDSB1",
        "Cijk_Alik_Bljk_BBS_MT128x96x64",
    ),
    ("(graph) void at::native::foo<int>(int)", "(graph) foo"),
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
]


def test_durations_have_three_significant_digits():
    assert [(ns, formatting.duration(ns)) for ns, _ in DURATIONS] == DURATIONS


def test_sizes_are_formatted_like_torch():
    assert [(size, formatting.size(size)) for size, _ in SIZES] == SIZES


def test_kernel_names_lose_template_noise():
    assert [(name, formatting.short_name(name)) for name, _ in SHORT_NAMES] == SHORT_NAMES


def test_short_names_stay_distinct():
    names = ["void k<int>(int)", "void k<float>(float)"]
    assert formatting.short_names(names) == dict(zip(names, ["k", "k (2)"], strict=True))


def test_a_name_of_100_kb_is_cut():
    assert len(formatting.short_name("aten::" + "x" * 100_000)) == formatting.NAME_WIDTH


def test_text_in_markdown_is_literal():
    assert formatting.literal("<b>*a*_b_ $x$") == r"\<b\>\*a\*\_b\_ \$x\$"


def test_each_meaning_has_one_colour_and_one_position():
    assert colours.order({"idle", "copy", "compute"}) == ["compute", "copy", "idle"]
    assert colours.of("copy") == colours.of("exposed_copy")


@pytest.mark.parametrize(
    ("column", "value", "written"),
    [
        ("dur_ns", 1_500, "1.50 µs"),
        ("change_ns", 1_500, "+1.50 µs"),
        ("change_bytes", 2048, "+2.00 KiB"),
        ("change_percent", 950, "×10.5"),
        ("idle_percent", 42.55, "42.5%"),
        ("kernels", 132_104, "132,104"),
        ("base_calls", 7.5, "7.5"),
        ("offset_from_to", "0 → 4", "0 → 4"),
    ],
)
def test_a_column_is_written_in_its_unit(column, value, written):
    assert tables.unit_of(column)(value) == written


def test_a_column_without_a_unit_is_written_as_it_is():
    assert tables.unit_of("rank") is None


def test_parameters_are_bound_in_the_text_and_literal_when_inlined():
    query = select(
        "name",
        "ranking",
        {"run_id": ["a", "b"], "rank": 0, "device": None, "start_ns <": 5},
        containing=("name", "it's $1"),
        order_by="name",
        limit=3,
    )
    assert query.parameters == ("a", "b", 0, 5, "it's $1")
    assert query.inlined().splitlines() == [
        "SELECT name",
        "FROM ranking",
        "WHERE run_id IN ('a', 'b')",
        "  AND rank = 0",
        "  AND device IS NULL",
        "  AND start_ns < 5",
        "  AND contains(lower(name), lower('it''s $1'))",
        "ORDER BY name",
        "LIMIT 3",
    ]


def test_macros_are_called_with_literals():
    query = call("*", "device_occupancy", ["r'", 0, None], "bin")
    assert "FROM device_occupancy('r''', 0, NULL)" in query.inlined()


def test_positions_distinguish_the_ends_of_a_range():
    assert formatting.position(421_250_123, 151_000) == "421.25 ms"
    assert formatting.position(421_401_123, 151_000) == "421.40 ms"
    assert formatting.position(421_250_123, 1_500) == "421.2501 ms"
    assert formatting.position(421_250_123, 500_000_000) == "421 ms"


def test_ages() -> None:
    now = datetime.now(UTC).replace(tzinfo=None)
    assert formatting.age(now) == formatting.age(now + timedelta(seconds=30)) == "now"
    assert formatting.age(now - timedelta(hours=3)) == "3 h ago"
    for day in (now - timedelta(days=200), now + timedelta(days=2)):
        assert formatting.age(day) == f"{day:%Y-%m-%d}"
