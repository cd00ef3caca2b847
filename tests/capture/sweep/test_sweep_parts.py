"""The parts of a sweep: variants, distances, failing processes, and directories."""

import subprocess
import sys

import numpy as np
import pytest

from capture.cli.options import parser
from capture.errors import CaptureError
from capture.pipelines.command import compile_of
from capture.pipelines.compiling import Compile
from capture.sweep import process
from capture.sweep.distance import distance
from capture.sweep.plan import Plan, open_directory
from capture.sweep.variants import Axis, variants
from tests.capture.processes import wait_until


def plan(*tries: str, axes: tuple[Axis, ...] = (), repeat: int = 2) -> Plan:
    return Plan(("flux", "--tiny"), tries, axes, repeat, 3)


def test_variants_are_all_combinations_and_include_eager():
    sizes, dtypes = (
        Axis("size", ("512", "768x1360"), is_input=True),
        Axis("dtype", ("float32", "bfloat16")),
    )
    found = variants(["default", "regional+dynamic"], [sizes, dtypes])

    assert len(found) == 3 * 2 * 2
    assert [each.name for each in found[:4]] == [
        "eager 512 float32",
        "eager 512 bfloat16",
        "eager 768x1360 float32",
        "eager 768x1360 bfloat16",
    ]
    assert {each.name for each in found if each.is_base} == {
        "eager 512 float32",
        "eager 768x1360 float32",
    }
    assert found[-1].name == "regional+dynamic 768x1360 bfloat16"
    assert found[-1].base == "eager 768x1360 float32"


def test_a_variant_has_the_options_of_its_settings():
    axes = (Axis("size", ("768x1360",)), Axis("cache", ("none", "dbcache")))
    first, *_, last = plan("eager", "max-autotune+dynamic", axes=axes).variants

    assert (first.name, first.options) == ("eager 768x1360", {"height": "768", "width": "1360"})
    assert last.name == "max-autotune+dynamic 768x1360 cache=dbcache"
    assert plan("max-autotune+dynamic", axes=axes).command(last) == [
        *("flux", "--warmup=3", "--tiny", "--compile", "--compile-mode", "max-autotune"),
        *("--compile", "--dynamic", "--height=768", "--width=1360", "--cache=dbcache"),
    ]


@pytest.mark.parametrize(
    ("options", "axes", "found"),
    [((), (), 3), (("--warmup", "1"), (), 1), (("--warmup", "1"), (Axis("warmup", ("5",)),), 5)],
)
def test_the_number_of_warm_up_calls(options, axes, found):
    the_plan = Plan(("flux", "--tiny", *options), (), axes, 1, 1)
    assert parser().parse_args(the_plan.command(the_plan.variants[0])).warmup == found


def test_eager_ignores_options_of_torch_compile():
    subject = ("flux", "--tiny", "--compile", "--compile-parts", "vae")
    the_plan = Plan(subject, ("dynamic",), (), 1, 1)
    eager, dynamic = (
        compile_of(parser().parse_args(the_plan.command(variant))) for variant in the_plan.variants
    )
    assert eager is None
    assert dynamic == Compile(dynamic=True, parts=("vae",))


@pytest.mark.parametrize(
    ("tries", "axes", "message"),
    [
        (["fast"], [], "--try fast: unknown; choose from eager, default"),
        (["eager+dynamic"], [], "eager does not compile"),
        (["default+max-autotune"], [], "more than one mode"),
        (["default"], [Axis("dtype", ("float32", "float32"))], "dtype: a value occurs twice"),
        (
            ["default"],
            [Axis("seed", ("1",)), Axis("seed", ("2",))],
            "seed: this axis occurs twice",
        ),
    ],
)
def test_wrong_tries_and_axes_are_errors(tries, axes, message):
    with pytest.raises(CaptureError, match=message):
        variants(tries, axes)


def test_each_variant_has_a_separate_folder():
    prompts = (
        "first-block",
        "first block",
        "a cat",
        "a/cat",
        "a:cat",
        "../cat",
        "Ein Kätzchen " * 40,
        "猫" * 300,
    )
    axes = (Axis("prompt", prompts), Axis("dtype", ("float16", "bfloat16")))
    folders = [variant.folder for variant in variants(["default"], axes)]
    assert len(set(folders)) == len(folders) == 32
    assert all(len(folder.encode()) <= 255 and "/" not in folder for folder in folders)
    plain = variants([], [Axis("size", ("512",)), Axis("cache", ("first-block",))])
    assert plain[0].folder == "eager-512-cache-first-block"


@pytest.mark.parametrize("text", ["big", "512x", "1x2x3", "-1"])
def test_a_malformed_size_is_an_error(text):
    with pytest.raises(CaptureError, match="must be a number of pixels or HEIGHTxWIDTH"):
        _ = plan("eager", axes=(Axis("size", (text,)),)).variants[0].options


def test_the_distance_of_images():
    base = np.array([[0.0, 0.5], [1.0, 0.25]])
    other = base + np.array([[0.0, 0.1], [-0.3, 0.0]])

    found = distance(base, other)
    assert found["max_abs"] == pytest.approx(0.3)
    assert found["mean_abs"] == pytest.approx(0.1)
    assert found["psnr_db"] == pytest.approx(10 * np.log10(1 / 0.025))


def test_the_peak_of_other_values_is_their_range():
    base, other = np.array([-2.0, 6.0]), np.array([-2.0, 7.0])
    assert distance(base, other)["psnr_db"] == pytest.approx(10 * np.log10(64 / 0.5))


def test_equal_outputs_have_no_signal_to_noise_ratio():
    assert distance(np.ones(3), np.ones(3)) == {"max_abs": 0.0, "mean_abs": 0.0}


@pytest.mark.parametrize(
    ("base", "other", "reason"),
    [
        ([1.0], [[1.0]], "shape (1, 1) instead of (1,)"),
        ([1.0, 2.0], [np.nan, np.inf], "2 of 2 values of the output are not finite"),
        ([np.nan, 2.0], [1.0, 2.0], "1 of 2 values of the base are not finite"),
        ([], [], "the output is empty"),
    ],
)
def test_incomparable_outputs_have_a_reason(base, other, reason):
    assert distance(np.array(base), np.array(other)) == {"missing": reason}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ValueError('mine\\nmore')", "ValueError: mine"),
        ("print('capture: no such file'); raise SystemExit(1)", "no such file"),
        ("raise SystemExit(3)", "exit code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended by SIGSEGV"),
        ("pass", None),
    ],
)
def test_the_reason_of_a_failed_process(code, reason, tmp_path):
    assert process.run([sys.executable, "-c", code], tmp_path / "log", 60, {}) == reason


def test_a_hanging_process_is_ended_with_its_children(tmp_path):
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    log = tmp_path / "log"
    start = subprocess.Popen

    def start_both(*command, **options):
        """Start the process. Its limit begins when its child runs."""
        started = start(*command, **options)
        wait_until(lambda: log.read_text().endswith("\n"))
        return started

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "GRACE_S", 0.2)
        patch.setattr(subprocess, "Popen", start_both)
        reason = process.run([sys.executable, "-c", code], log, 0.5, {})

    assert reason == "ended at the time limit of 0.5 s"
    child = int(log.read_text())
    wait_until(lambda: not _is_running(child))  # it has been told to end


def _is_running(number: int) -> bool:
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_directory_accepts_only_the_same_plan(tmp_path):
    first = open_directory(plan("default"), tmp_path / "s", tmp_path, "one")
    assert first == (tmp_path / "s", "one")
    assert open_directory(plan("default"), tmp_path / "s", tmp_path, "two") == first
    with pytest.raises(CaptureError, match="contains another sweep, `one`"):
        open_directory(plan("regional"), tmp_path / "s", tmp_path, "two")


def test_another_plan_gets_the_next_default_directory(tmp_path):
    default = tmp_path / "sweep-flux"
    assert open_directory(plan("default"), None, default, "one")[0] == default
    assert open_directory(plan("regional"), None, default, "two")[0].name == "sweep-flux-2"
    assert open_directory(plan("default"), None, default, "three") == (default, "one")


def test_a_directory_with_other_content_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CaptureError, match="is not empty and contains no sweep"):
        open_directory(plan("default"), tmp_path, tmp_path, "one")


@pytest.mark.parametrize("content", ["", "{", "3", "{}"])
def test_a_damaged_plan_is_an_error(content, tmp_path):
    (tmp_path / "sweep.json").write_text(content)
    with pytest.raises(CaptureError, match=r"sweep\.json: (cannot be read|is not the plan)"):
        open_directory(plan("default"), tmp_path, tmp_path, "one")
