"""Outputs of calls as arrays: all kinds that a sweep compares."""

from types import SimpleNamespace

import numpy as np
import pytest

from capture.recording.outputs import as_array

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (torch.tensor([1.5, 2], dtype=torch.bfloat16, requires_grad=True), [1.5, 2]),
        (torch.tensor([1 / 3], dtype=torch.float64), [1 / 3]),
        (torch.tensor([2**24 + 1]), [2**24 + 1]),  # float32 would round it to an even number
        (torch.tensor([True, False]), [1, 0]),
        (torch.tensor([1 + 2j]).conj(), [[1, -2]]),
        (torch.tensor([[0.0, 3]]).to_sparse(), [[0, 3]]),
        (np.array([1 - 1j]), [[1, -1]]),
        (np.float32(0.5), 0.5),
        (3, 3),
        ([torch.ones(2), {"a": np.zeros((1, 2)), "b": "text"}, 7.0], [1, 1, 0, 0, 7]),
        (SimpleNamespace(images=np.ones((1, 2, 2, 3), np.float32)), np.ones((1, 2, 2, 3))),
    ],
)
def test_an_array_keeps_all_values(made, expected):
    found = as_array(made)
    assert found.tolist() == np.asarray(expected, np.float64).tolist()
    assert found.dtype in (np.float32, np.float64)


def test_pixels_are_from_0_to_1():
    image = pytest.importorskip("PIL.Image")
    assert as_array([image.new("RGB", (1, 1), (0, 51, 255))]).tolist() == [[[0, 0.2, 1]]]
    assert as_array(image.new("F", (1, 1), 300.0)).tolist() == [[300]]


@pytest.mark.parametrize("made", [None, "text", np.array(["a"]), [], object()])
def test_an_output_without_numbers_is_none(made):
    assert as_array(made) is None
