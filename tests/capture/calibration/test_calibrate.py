"""`capture calibrate`, and runs that carry its results. GPUs are stand-ins."""

import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from capture import CaptureError, CaptureWarning, Profiler
from capture.calibration import command, measure
from capture.calibration.measure import EFFORTS, Effort
from capture.calibration.products import DTYPES
from capture.output.calibration import of_run
from capture.output.run_directory import check_empty
from tests.capture.captured import Captured

pytestmark = pytest.mark.usefixtures("capture_extra")

NAME = "calibration.json"
WIDTHS = (32, 64)
COPY_BYTES = 1 << 16
RESULTS = {"flops_per_s": {"float32": 5e13}, "bytes_per_s": 4e12, "launch_ns": 3000, "absent": {}}


@pytest.fixture(autouse=True)
def little_work(monkeypatch):
    """Make calibrations quick."""
    monkeypatch.setitem(EFFORTS, "cpu", Effort(WIDTHS, 0, COPY_BYTES, 3))


@pytest.fixture
def gpus(monkeypatch):
    """A function that makes torch find GPUs with these names, multiprocessors and memory."""
    import torch

    def found(*models: tuple[str, int, int]) -> None:
        keys = ("name", "multi_processor_count", "total_memory")
        properties = [SimpleNamespace(**dict(zip(keys, model, strict=True))) for model in models]

        def of(device: Any) -> SimpleNamespace:
            return properties[device if isinstance(device, int) else device.index or 0]

        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: len(models))
        monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
        monkeypatch.setattr(torch.cuda, "get_device_properties", of)

    return found


def read(directory: Path) -> dict[str, Any]:
    return dict(json.loads((directory / NAME).read_text(encoding="utf-8")))


def test_the_cpu_is_measured(run_capture_here, tmp_path):
    import torch

    finished = run_capture_here("calibrate", "--out", str(tmp_path / "new"), "--device", "cpu")

    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == f"{tmp_path / 'new' / NAME}\n"
    content = read(tmp_path / "new")
    assert (content["schema"], content["torch_version"]) == (1, torch.__version__)
    assert content["measured_at"].endswith("+00:00")
    (cpu,) = content["devices"]
    assert (cpu["device_type"], cpu["device"]) == ("cpu", None)
    assert (cpu["multiprocessors"], cpu["memory_bytes"]) == (None, None)
    assert cpu["threads"] == torch.get_num_threads()
    assert cpu["flops_per_s"].keys() | cpu["absent"].keys() == set(DTYPES)
    assert not cpu["flops_per_s"].keys() & cpu["absent"].keys()
    assert "float32" in cpu["flops_per_s"]
    assert min([*cpu["flops_per_s"].values(), cpu["bytes_per_s"], cpu["launch_ns"]]) > 0
    assert "NVIDIA" in cpu["absent"]["tf32"]
    for text in (cpu["name"], *DTYPES, "copy", "launch", cpu["absent"]["tf32"]):
        assert text in finished.stderr
    assert [path.name for path in (tmp_path / "new").iterdir()] == [NAME]


def test_rates_are_operations_and_bytes_per_second(run_capture_here, monkeypatch, tmp_path):
    class Watch:
        """Every product and copy takes 1 µs."""

        def __init__(self, device):
            self.count = 0

        @contextmanager
        def timed(self):
            self.count += 1
            yield

        def times_ns(self):
            return [1000] * self.count

    ticks = iter(range(0, 10**9, 20_000))  # 100 launches take 20 µs
    monkeypatch.setattr(measure, "Stopwatch", Watch)
    monkeypatch.setattr(measure, "time", SimpleNamespace(perf_counter_ns=lambda: next(ticks)))

    assert run_capture_here("calibrate", "--out", str(tmp_path)).returncode == 0

    (cpu,) = read(tmp_path)["devices"]
    assert cpu["flops_per_s"]["float32"] == pytest.approx(2 * 64**3 * 1e6, rel=1e-3)
    assert cpu["bytes_per_s"] == pytest.approx(2 * COPY_BYTES * 1e6, rel=1e-3)
    assert cpu["launch_ns"] == 200


def test_what_torch_cannot_do_is_absent_with_its_reason(run_capture_here, monkeypatch, tmp_path):
    import torch

    def refuse(*_):
        raise RuntimeError("no int8 here\nbecause of a build")

    monkeypatch.setattr(torch, "_int_mm", refuse)
    monkeypatch.setattr(measure, "_bytes_per_s", refuse)

    finished = run_capture_here("calibrate", "--out", str(tmp_path))

    assert finished.returncode == 0
    (cpu,) = read(tmp_path)["devices"]
    assert "int8" not in cpu["flops_per_s"]
    assert cpu["bytes_per_s"] is None
    assert cpu["absent"]["int8"] == cpu["absent"]["bytes_per_s"] == "no int8 here"
    assert "absent: no int8 here" in finished.stderr


def test_matrices_that_do_not_fit_leave_the_result_of_smaller_ones(
    run_capture_here, monkeypatch, tmp_path
):
    import torch

    def small(left, right):
        if len(left) > WIDTHS[0]:
            raise torch.OutOfMemoryError("no memory")
        return left

    monkeypatch.setattr(torch, "mm", small)

    assert run_capture_here("calibrate", "--out", str(tmp_path)).returncode == 0
    assert "float32" in read(tmp_path)["devices"][0]["flops_per_s"]


def test_a_slow_product_is_timed_once(run_capture_here, monkeypatch, tmp_path):
    import torch

    widths, multiply = [], torch._int_mm

    def counted(left, right):
        widths.append(len(left))
        return multiply(left, right)

    monkeypatch.setattr(torch, "_int_mm", counted)
    monkeypatch.setattr(measure, "SLOW_NS", 0)

    assert run_capture_here("calibrate", "--out", str(tmp_path)).returncode == 0
    assert widths == [measure.SMALLEST_WIDTH, WIDTHS[0]]


def test_an_interrupt_leaves_an_earlier_file(run_capture_here, monkeypatch, tmp_path):
    import torch

    (tmp_path / NAME).write_text("earlier")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(torch, "_int_mm", interrupt)
    for directory in (tmp_path, tmp_path / "new"):
        finished = run_capture_here("calibrate", "--out", str(directory))
        assert (finished.returncode, finished.stdout) == (130, "")
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME).read_text() == "earlier"


def test_errors_are_one_line(run_capture_here, monkeypatch, tmp_path):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    (tmp_path / "file").write_text("mine")
    for arguments, expected in (
        (
            ("--device", "cuda", "--out", str(tmp_path / "new")),
            "--device cuda: torch finds no CUDA",
        ),
        (("--out", str(tmp_path / "file")), f"cannot create the directory {tmp_path / 'file'}"),
        (("--out", "/proc"), f"cannot write /proc/{NAME}"),  # no one can create files there
    ):
        finished = run_capture_here("calibrate", *arguments)
        assert (finished.returncode, finished.stdout) == (1, "")
        (line,) = finished.stderr.splitlines()
        assert expected in line
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_one_gpu_of_each_model_is_measured(run_capture_here, gpus, monkeypatch, tmp_path):
    gpus(("H200", 132, 150 << 30), ("H200", 132, 150 << 30), ("H200", 66, 75 << 30), ("T4", 40, 1))
    monkeypatch.setattr(command, "measured", lambda device, effort: RESULTS)

    assert run_capture_here("calibrate", "--out", str(tmp_path)).returncode == 0
    devices = read(tmp_path)["devices"]
    assert [(each["device"], each["name"]) for each in devices] == [
        (0, "H200"),
        (2, "H200"),
        (3, "T4"),
    ]
    expected = {"device_type": "cuda", "multiprocessors": 66, "memory_bytes": 75 << 30}
    assert expected.items() <= devices[1].items()

    # A run carries the results of its own device.
    gpus(("T4", 40, 1))
    import torch

    assert of_run(tmp_path / "run", torch.device("cuda"))["devices"] == [devices[2]]
    gpus(("T4", 40, 2))
    assert of_run(tmp_path / "run", torch.device("cuda")) is None

    run_capture_here("calibrate", "--out", str(tmp_path), "--device", "cpu")
    assert [each["device_type"] for each in read(tmp_path)["devices"]] == ["cpu"]


def recorded(directory: Path) -> dict[str, Any]:
    """Record a run and return its `run.json`."""
    import torch

    with Profiler(output_dir=directory, hook_pipelines=False):
        torch.ones(2)
    return Captured.read(directory).run


def test_a_run_carries_the_calibration_of_its_device(run_capture_here, tmp_path):
    run_capture_here("calibrate", "--out", str(tmp_path))
    content = read(tmp_path)
    (cpu,) = content["devices"]

    assert recorded(tmp_path / "run")["calibration"] == content
    assert recorded(tmp_path)["calibration"] == content
    assert recorded(tmp_path / "sweep" / "compile" / "run")["calibration"] == content

    others = [cpu | {"name": "Z80"}, cpu | {"threads": 99}, cpu | {"device_type": "cuda"}]
    (tmp_path / NAME).write_text(json.dumps(content | {"devices": [*others, cpu]}))
    assert recorded(tmp_path / "run2")["calibration"] == content
    (tmp_path / NAME).write_text(json.dumps(content | {"devices": others}))
    run = recorded(tmp_path / "run3")
    assert run.keys().isdisjoint({"calibration", "missing"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[1]", "cannot be read"),
        ("{}", "schema is not 1"),
        ('{"schema": 1, "measured_at": "", "torch_version": "", "devices": 1}', "devices is not"),
        (
            '{"schema": 1, "measured_at": "", "torch_version": "", "devices": '
            '[{"flops_per_s": {"int8": 0}, "absent": {}}]}',
            "flops_per_s of int8 is not a positive number",
        ),
    ],
)
def test_a_damaged_calibration_is_a_warning(text, reason, tmp_path):
    (tmp_path / NAME).write_text(text)

    with pytest.warns(CaptureWarning, match=reason) as warned:
        run = recorded(tmp_path / "run")

    assert str(tmp_path / NAME) in str(warned[0].message)
    assert "calibration" not in run
    assert reason in run["missing"]["calibration"]


def test_a_directory_with_a_calibration_counts_as_empty(tmp_path):
    (tmp_path / NAME).write_text("{}")
    check_empty(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(CaptureError, match="not empty"):
        check_empty(tmp_path)
