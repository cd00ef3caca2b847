"""Work of operators whose recorded inputs are missing, symbolic, wrong or too large."""

from typing import Any

import pytest

from tests.builders.events import Event, op
from tests.builders.relations import Relations, built

WORK = """
    SELECT flops, bytes_read, bytes_written, flops_reason, bytes_reason
    FROM op_work INNER JOIN ops ON op_id = event_id
    WHERE ops.start_ns = $1
"""
MM = ("float", "float")
CONVOLUTION = "aten::convolution"
POOL = "aten::max_pool2d_with_indices"
NO_NUMBER = None
INPUTS = "inputs"


def recorded(name: str, dims: Any = None, types: Any = None, **more: Any) -> Event:
    """Return the event of a call with these arguments, those of None left out."""
    args = {
        "Input Dims": dims,
        "Input type": types,
        "Input Strides": more.get("strides"),
        "Concrete Inputs": more.get("values"),
    }
    return op(name, args={key: value for key, value in args.items() if value is not None})


def convolved(*values: str, weight: Any = (6, 4, 3, 3)) -> Event:
    """Return a convolution with these settings, from the stride on."""
    types = ["float", "float", "", *["Scalar"] * len(values)]
    dims = [[2, 4, 9, 9], weight, [], *[[]] * len(values)]
    return recorded(CONVOLUTION, dims, types, values=["", "", "", *values])


def pooled(*values: str) -> Event:
    types = ["float", *["Scalar"] * len(values)]
    return recorded(POOL, [[2, 4, 9, 9], *[[]] * len(values)], types, values=["", *values])


def summed(axes: str, dims: Any = (3, 4), type: str = "float", dtype: str = "") -> Event:
    types = [type, "ScalarList", "Scalar", "Scalar" if dtype else ""]
    return recorded("aten::sum", [dims, [], [], []], types, values=["", axes, "False", dtype])


# The work of a call: a row, or no row.
Row = tuple[int | None, int | None, int | None, str | None, str | None] | None
BOTH: Row = (None, 4 * 2 * 4 * 9 * 9, None, INPUTS, INPUTS)
CASES: dict[str, tuple[Event, Row]] = {
    "nothing": (op("aten::mm"), None),
    "no shapes": (recorded("aten::mm", None, MM), None),
    "no arguments": (recorded("aten::mm", [], []), None),
    "one argument": (recorded("aten::mm", [[4, 5]], ["float"]), None),
    "shapes that are no list": (recorded("aten::mm", "[[4,5],[5,6]]", MM), None),
    "shapes that are a number": (recorded("aten::mm", 4, MM), None),
    "shapes that are an object": (recorded("aten::mm", {"a": [4, 5]}, MM), None),
    "text other than JSON": (recorded("aten::mm", "[[4, 5], [5, 6", MM), None),
    "no JSON anywhere": (recorded("aten::mm", "x", "y", strides="z", values="{"), None),
    "an empty text": (recorded("aten::mm", "", ""), None),
    "types that are no list": (
        recorded("aten::mm", [[4, 5], [5, 6]], "float"),
        (2 * 4 * 5 * 6, None, None, None, INPUTS),
    ),
    "types of numbers": (
        recorded("aten::mm", [[4, 5], [5, 6]], [1, {"x": 2}]),
        (2 * 4 * 5 * 6, None, None, None, INPUTS),
    ),
    "a symbolic size": (recorded("aten::mm", [["s0", 5], [5, 6]], MM), None),
    "a symbolic size of the other": (recorded("aten::mm", [[4, 5], [5, "s1"]], MM), None),
    "a size that is null": (recorded("aten::mm", [[4, None], [5, 6]], MM), None),
    "an argument that is null": (recorded("aten::mm", [None, [5, 6]], MM), None),
    "a negative size": (recorded("aten::mm", [[-4, 5], [5, 6]], MM), None),
    "two negative sizes": (recorded("aten::mm", [[-4, -5], [5, 6]], MM), None),
    "a truth value for a size": (recorded("aten::mm", [[4, "x"], [True, 6]], MM), None),
    "half a size": (
        recorded("aten::mm", [[4, 5.25], [5, 6.25]], MM),
        None,
    ),
    "an infinite size": (recorded("aten::mm", [["inf", 5], [5, 6]], MM), None),
    "a size other than a number": (recorded("aten::mm", [["nan", 5], [5, 6]], MM), None),
    "more than fits": (recorded("aten::mm", [[2**62, 2**62], [2**62, 2**62]], MM), None),
    "more operations than fit": (
        recorded("aten::mm", [[2**31, 1], [1, 2**31]], ["bool", "bool"]),
        (None, 2**32, 2**62, INPUTS, None),
    ),
    "more digits than fit": (recorded("aten::mm", [[10**400, 5], [5, 6]], MM), None),
    "a vector": (recorded("aten::mm", [[4], [5]], MM), None),
    "numbers for tensors": (
        recorded("aten::mm", [[], []], ["Scalar", "Scalar"]),
        None,
    ),
    "a list of lists": (recorded("aten::mm", [[[4, 5]], [[5, 6]]], ["TensorList"] * 2), None),
    "deeper lists": (recorded("aten::mm", [[[[4]]], [[[5]]]], ["TensorList"] * 2), None),
    "no types": (
        recorded("aten::mm", [[4, 5], [5, 6]]),
        (2 * 4 * 5 * 6, None, None, None, INPUTS),
    ),
    "unknown types": (
        recorded("aten::mm", [[4, 5], [5, 6]], ["c10::Float3", "posit"]),
        (2 * 4 * 5 * 6, None, None, None, INPUTS),
    ),
    "one unknown type": (
        recorded("aten::mm", [[4, 5], [5, 6]], ["float", "posit"]),
        (2 * 4 * 5 * 6, None, 4 * 4 * 6, None, INPUTS),
    ),
    "too few types": (
        recorded("aten::mm", [[4, 5], [5, 6]], ["float"]),
        (2 * 4 * 5 * 6, None, 4 * 4 * 6, None, INPUTS),
    ),
    "no strides": (
        recorded("aten::mm", [[4, 5], [5, 6]], MM),
        (2 * 4 * 5 * 6, 4 * 50, 4 * 24, None, None),
    ),
    "too few strides": (
        recorded("aten::mm", [[4, 5], [5, 6]], MM, strides=[[5], [6, 1]]),
        (2 * 4 * 5 * 6, 4 * 50, 4 * 24, None, None),
    ),
    "strides of one argument": (
        recorded("aten::mm", [[4, 5], [5, 6]], MM, strides=[[5, 1]]),
        (2 * 4 * 5 * 6, 4 * 50, 4 * 24, None, None),
    ),
    "strides that are no numbers": (
        recorded("aten::mm", [[4, 5], [5, 6]], MM, strides=[["s0", 1], ["s1", 1]]),
        (2 * 4 * 5 * 6, 4 * 50, 4 * 24, None, None),
    ),
    "empty tensors": (recorded("aten::mm", [[0, 5], [5, 6]], MM), (0, 4 * 30, 0, None, None)),
    # settings
    "no values": (
        recorded(CONVOLUTION, [[2, 4, 9, 9], [6, 4, 3, 3]], MM),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "a setting other than a number": (
        convolved("[s0, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "a setting that is no list": (
        convolved("same", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "a stride that is too short": (
        convolved("[1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "a stride that is too long": (
        convolved("[1, 1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "an empty padding": (
        convolved("[1, 1]", "[]", "[1, 1]", "False", "[0, 0]", "1"),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "a stride of 0": (
        convolved("[0, 0]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "a kernel that is larger than the image": (
        convolved("[1, 1]", "[0, 0]", "[9, 9]", "False", "[0, 0]", "1"),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "a direction that is neither": (
        convolved("[1, 1]", "[0, 0]", "[1, 1]", "s0", "[0, 0]", "1"),
        (None, 3456, None, INPUTS, INPUTS),
    ),
    "no channels": (
        convolved("[1, 1]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "1", weight=(0, 4, 3, 3)),
        (None, 4 * 2 * 4 * 9 * 9, 4 * 2 * 4 * 11 * 11, INPUTS, None),
    ),
    "groups that are no number": (
        convolved("[1, 1]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "s0"),
        (2 * 648 * 4 * 9, 3456, None, None, INPUTS),
    ),
    "which gradients are not known": (
        recorded(
            "aten::convolution_backward",
            [[2, 6, 7, 7], [2, 4, 9, 9], [6, 4, 3, 3], *[[]] * 8],
            ["float"] * 3 + ["Scalar"] * 8,
            values=["", "", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "?"],
        ),
        None,
    ),
    "a kernel that is no list": (pooled("s0", "[]", "[0, 0]", "[1, 1]", "False"), BOTH),
    "a pooling without a stride of each axis": (
        pooled("[3, 3]", "[2]", "[0, 0]", "[1, 1]", "False"),
        BOTH,
    ),
    "a pooling with a stride of 0": (
        pooled("[3, 3]", "[0, 0]", "[0, 0]", "[1, 1]", "False"),
        BOTH,
    ),
    "an axis that does not exist": (summed("[2]"), (12, 48, None, None, INPUTS)),
    "an axis other than a number": (summed("[s0]"), (12, 48, None, None, INPUTS)),
    "a list with a gap": (summed("[0,,1]"), (12, 48, None, None, INPUTS)),
    "a type other than a number": (summed("[0]", dtype="x"), (12, 48, None, None, INPUTS)),
    "a type that is unknown": (summed("[0]", dtype="99"), (12, 48, None, None, INPUTS)),
    "a sum of an unknown type": (
        summed("[0]", type="posit"),
        (12, None, None, None, INPUTS),
    ),
    "a sum of an unknown shape": (summed("[0]", dims=["s0", 4]), None),
    "a sum of all without values": (
        recorded("aten::sum", [[3, 4], []], ["int", ""]),
        (12, 48, 8, None, None),
    ),
    "a sum of a type without values": (
        recorded("aten::sum", [[3, 4], []], ["float", "Scalar"]),
        (12, 48, None, None, INPUTS),
    ),
    "a sum of axes without values": (
        recorded("aten::sum", [[3, 4], [], [], []], ["float", "", "Scalar", ""]),
        (12, 48, None, None, INPUTS),
    ),
    # arguments
    "a number in a tensor": (
        recorded("aten::mul", [[3, 4], []], ["float", "double"]),
        (12, 48, 48, None, None),
    ),
    "an integer in a tensor": (
        recorded("aten::mul", [[3, 4], []], ["float", "long int"]),
        (12, 48, 48, None, None),
    ),
    "an integer for a counter": (
        recorded("aten::add_", [[], [], []], ["long", "long", "Int"]),
        (1, 8, 8, None, None),
    ),
    "an integer that is a tensor": (
        recorded("aten::copy_", [[], [], []], ["float", "long int", "Bool"]),
        (0, 8, 4, None, None),
    ),
    "only numbers": (
        recorded("aten::mul", [[], []], ["double", "double"]),
        (1, 0, 4, None, None),
    ),
    "shapes that do not fit": (
        recorded("aten::mul", [[3, 4], [5]], MM),
        (None, 68, None, INPUTS, INPUTS),
    ),
    "one side that is unknown": (recorded("aten::mul", [[3, 4], ["s0"]], MM), None),
    "one type that is unknown": (
        recorded("aten::mul", [[3, 4], [4]], ["float", "posit"]),
        (12, None, None, None, INPUTS),
    ),
    "indices without a table": (
        recorded("aten::embedding", [[], [3]], ["", "long int"]),
        (0, None, None, None, INPUTS),
    ),
    "an axis beyond the last": (
        recorded(
            "aten::index_select",
            [[3, 4], [], [2]],
            ["float", "Scalar", "long int"],
            values=["", "7", ""],
        ),
        (0, None, None, None, INPUTS),
    ),
    "a table without rows": (
        recorded(
            "aten::index_select",
            [[0, 4], [], [2]],
            ["float", "Scalar", "long int"],
            values=["", "0", ""],
        ),
        (0, None, None, None, INPUTS),
    ),
    "a weight without columns": (
        recorded("aten::linear", [[4, 0], [6, 0], []], ["float", "float", ""]),
        (None, 0, None, INPUTS, INPUTS),
    ),
    "a weight that does not fit": (
        recorded("aten::linear", [[4, 5], [6, 7], []], ["float", "float", ""]),
        None,
    ),
    "the whole stack of TorchScript": (
        recorded("aten::linear", [[8, 4], [8, 9], [8, 5], [6, 5], [6]], ["float"] * 5),
        None,
    ),
    "a stack whose first two fit": (
        recorded("aten::linear", [[8, 9], [8, 9], [8, 9], [8, 4], [6, 4], [6]], ["float"] * 6),
        None,
    ),
    "a stack of squares": (recorded("aten::mm", [[4, 4]] * 5, ["float"] * 5), None),
    "a stack of a softmax": (
        recorded("aten::_softmax", [[8, 9], [8, 5], [3, 4], [], []], ["float"] * 3 + ["Int"] * 2),
        None,
    ),
    "a stack of a copy": (
        recorded("aten::copy_", [[8, 9], [8, 5], [8, 5], []], ["float"] * 3 + ["Bool"]),
        None,
    ),
    "a stack of a number": (recorded("aten::zero_", [[8, 9], [8, 5]], ["float"] * 2), None),
    "an activation after the bias": (
        recorded(
            "mkldnn::_linear_pointwise",
            [[3, 4], [6, 4], [6], [], [], []],
            ["float"] * 3 + ["Scalar", "ScalarList", ""],
        ),
        (2 * 3 * 4 * 6, 4 * (12 + 24 + 6), 4 * 18, None, None),
    ),
    "a stack of numbers": (recorded("aten::pow", [[8], [8], [4], [4], []], ["float"] * 5), None),
    "queries without a size": (
        recorded(
            "aten::scaled_dot_product_attention",
            [[2, 4, 7, 0], [2, 4, 9, 0], [2, 4, 9, 0]],
            ["float"] * 3,
        ),
        (None, 0, None, INPUTS, INPUTS),
    ),
    "attention of vectors": (
        recorded("aten::scaled_dot_product_attention", [[7], [7], [7]], ["float"] * 3),
        (None, 4 * 3 * 7, 4 * 7, INPUTS, None),
    ),
    "a softmax that may change the type": (
        recorded("aten::_softmax", [[3, 4], [], []], ["float", "Scalar", "Scalar"]),
        (60, 48, None, None, INPUTS),
    ),
    "a norm with or without training": (
        recorded("aten::native_batch_norm", [[2, 3, 4]], ["float"]),
        (None, 96, 96, INPUTS, None),
    ),
    "a loss that is summed or not": (
        recorded("aten::mse_loss", [[3, 4], [3, 4], []], ["float", "float", "Scalar"]),
        (12, 96, None, None, INPUTS),
    ),
    "a source of unknown shape": (
        recorded(
            "aten::scatter_",
            [[9], [], [3], ["s0"]],
            ["float", "Scalar", "long int", "float"],
            values=["", "0", "", ""],
        ),
        (0, None, 12, None, INPUTS),
    ),
    "a list of no tensors": (
        recorded("aten::_foreach_add_", [[], []], ["TensorList", "TensorList"]),
        None,
    ),
    "a list with a tensor of unknown size": (
        recorded("aten::_foreach_add_", [[[3, 4], ["s0"]], []], ["TensorList", "Scalar"]),
        None,
    ),
    "a list with a number": (
        recorded("aten::_foreach_add_", [[[3, 4], 5], []], ["TensorList", "Scalar"]),
        None,
    ),
    "tensors without sizes": (
        recorded("aten::_foreach_add_", [[[], [3]], []], ["TensorList", "Scalar"]),
        (1 + 3, None, None, None, "formula"),
    ),
    "an argument that a formula does not know": (
        recorded("aten::cat", [[[3, 4], [3, 4]], []], ["TensorList", "Scalar"]),
        (0, None, None, None, "formula"),
    ),
    "a step of 0": (
        recorded(
            "aten::arange",
            [[], [], [], [0]],
            ["Scalar"] * 3 + ["long int"],
            values=["0", "5", "0", ""],
        ),
        (0, 0, None, None, INPUTS),
    ),
    "a step in the wrong direction": (
        recorded(
            "aten::arange",
            [[], [], [], [0]],
            ["Scalar"] * 3 + ["long int"],
            values=["0", "5", "-1", ""],
        ),
        (0, 0, None, None, INPUTS),
    ),
    "a kernel without arguments": (recorded("triton_poi_fused_add_0", [], []), None),
    "a kernel of numbers": (
        recorded("triton_poi_fused_add_0", [[], []], ["Scalar"] * 2),
        (None, None, None, "formula", "formula"),
    ),
    "a kernel with a tensor of unknown size": (
        recorded("triton_poi_fused_add_0", [["s0"], []], ["float", "Scalar"]),
        None,
    ),
    "a template of numbers": (
        recorded("triton_tem_fused_mm_0", [[], []], ["Scalar"] * 2),
        (None, None, None, INPUTS, "formula"),
    ),
}
# Shapes from which no operator has a number, except the bytes of a single element
WRONG = {
    "symbolic": [["s0", 4]] * 12,
    "negative": [[-1, 4]] * 12,
    "nested": [[[["s0"]]]] * 12,
    "huge": [[2**62] * 8] * 12,
}
GOOD = recorded("aten::mm", [[4, 5], [5, 6]], MM)


@pytest.fixture(scope="module")
def relations() -> Relations:
    """All calls one after another, and a good one."""
    events = [{**event, "ts": 2 * i + 2} for i, (event, _) in enumerate(CASES.values())]
    return built([{**GOOD, "ts": 0}, *events], "op_work", "ops")


@pytest.mark.parametrize("name", CASES)
def test_what_is_unknown_is_null_with_a_reason(relations: Relations, name: str) -> None:
    start_ns = 1000 * (2 * list(CASES).index(name) + 2)
    rows = relations.execute(WORK, [start_ns]).fetchall()
    expected = CASES[name][1]
    assert rows == ([expected] if expected else [])


def test_calls_with_bad_inputs_change_nothing_else(relations: Relations) -> None:
    good = (2 * 4 * 5 * 6, 4 * (4 * 5 + 5 * 6), 4 * 4 * 6, None, None)
    assert relations.execute(WORK, [0]).fetchall() == [good]
    assert relations.sql("SELECT count(*) FROM ops").fetchall() == [(len(CASES) + 1,)]


def test_no_operator_has_a_number_from_shapes_that_are_wrong() -> None:
    query = r"""
        SELECT
            unnest(listed_ops),
            least(coalesce(try_cast(regexp_extract(requires_sql, '\d+$') AS INTEGER), 12), 12)
        FROM work_formulas
    """
    listed = built([op("x")]).sql(query).fetchall()
    events = [
        recorded(name, dims[:most], ["float"] * most, values=["s0"] * most)
        for name, most in listed
        for dims in WRONG.values()
    ]
    query = """
        SELECT formula FROM op_work
        WHERE greatest(flops, bytes_read, bytes_written, bytes_at_most) > 8
    """
    relations = built([{**event, "ts": 2 * i} for i, event in enumerate(events)])
    assert relations.sql(query).fetchall() == []
    assert relations.sql("SELECT count(*) FROM ops").fetchall() == [(len(events),)]
