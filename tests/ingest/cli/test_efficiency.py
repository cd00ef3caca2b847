"""`ingest top --efficiency`: operators by the time that reaching the limits would save."""

from pathlib import Path

import pytest

from tests.helpers.command import Command
from tests.helpers.samples import Samples


@pytest.fixture
def default_store(sampled: Samples) -> Path:
    """The store that `command` uses."""
    return sampled.store("h100_owlv2", "flux_eager_full", "mi210_gpu_only")


def test_operators_are_ranked_by_the_time_that_they_could_save(command: Command) -> None:
    out = command("top", "h100_owlv2", "--efficiency", "--limit", "2").out
    lines = [line.split() for line in out.splitlines()]
    rows = [line for line in lines if line and line[0].startswith("aten::")]
    assert [row[:2] for row in rows] == [
        ["aten::_softmax", "16×5185×5185"],
        ["aten::bmm", "16×5185×64,"],
    ]
    assert "Model FLOP utilisation: 2.4%, of the median step" in out
    assert "Known work:             100.0% of the device time" in out
    assert "Peaks from the datasheet of H100 SXM." in out


def test_kernels_have_the_work_of_their_operators(command: Command) -> None:
    out = command("top", "h100_owlv2", "--efficiency", "--by", "kernel", "--wide").out
    assert "cunn_SoftMaxForward" in out
    assert "Shapes" not in out


def test_with_little_known_work_utilisation_is_a_lower_bound(
    command: Command, default_store: Path, sampled: Samples
) -> None:
    store = str(sampled.store("v100_resnet50_workers0"))
    out = command("top", "v100_resnet50_workers0", "--efficiency", "--store", store).out
    assert "Model FLOP utilisation: at least 9.3%" in out


def test_a_host_without_peaks_has_rates_only(command: Command) -> None:
    out = command("top", "flux_eager_full", "--efficiency").out
    assert "Model FLOP utilisation: unknown: the peak of a type" in out
    assert "FLOPS" in out
    assert "The peaks are unknown: a host has no datasheet." in out


def test_a_run_without_shapes_says_what_is_missing(command: Command) -> None:
    out = command("top", "mi210_gpu_only", "--efficiency").out
    assert "no operator has known work. Work follows from the shapes of inputs" in out


def test_innermost_operators_have_no_work_of_their_own(command: Command) -> None:
    result = command("top", "h100_owlv2", "--efficiency", "--by", "leaf")
    assert result.code == 2
    assert "--efficiency ranks by op or kernel" in result.err
