"""The inputs of a pipeline's call, and the options of the command line that set them."""

import json
import sys
import warnings
from importlib import import_module

import numpy as np
import pytest

from capture.cli import main
from capture.errors import CaptureError, UsageError
from capture.pipelines.calls import Inputs, generate, known_inputs
from capture.pipelines.compiling import check_compiler
from capture.pipelines.images import read_image
from capture.pipelines.load import load
from capture.pipelines.record import check_inputs
from capture.recording.denoisers import denoisers
from tests.capture.captured import Captured
from tests.capture.processes import Finished

pytestmark = pytest.mark.usefixtures("capture_extra")


class Pipeline:
    """A pipeline with the parameters of a video pipeline. It records the arguments of its call."""

    def __call__(
        self, prompt, negative_prompt=None, num_frames=8, guidance_scale=5.0, generator=None
    ):
        self.called = {
            "prompt": prompt,
            "negative_prompt": negative_prompt,
            "num_frames": num_frames,
            "guidance_scale": guidance_scale,
        }


def test_all_inputs_reach_the_pipeline():
    pipeline = Pipeline()
    inputs = Inputs(
        prompt=("a", "b"), batch=3, guidance=3.5, negative_prompt="", frames=5, height=64
    )
    generate(pipeline, inputs)
    assert pipeline.called == {
        "prompt": ["a", "b", "a"],
        "negative_prompt": ["", "", ""],
        "num_frames": 5,
        "guidance_scale": 3.5,
    }
    assert "height" not in known_inputs(pipeline, inputs)


def test_the_pipeline_chooses_inputs_that_are_not_given():
    pipeline = Pipeline()
    generate(pipeline, Inputs())
    assert pipeline.called["num_frames"] == 8
    assert pipeline.called["guidance_scale"] == 5.0


def test_a_pipeline_can_lack_a_denoiser():
    assert denoisers(Pipeline()) == {}


def test_an_inference_uses_all_options(run_loaded_capture, tmp_path):
    """The test runs on a CPU, where nothing can be offloaded."""
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("one\n\ntwo\n")
    finished = run_loaded_capture(
        *("flux", "--tiny", "--steps", "2", "--height", "48", "--width", "80", "--offload"),
        *("--guidance", "3.5", "--negative-prompt", "", "--prompts", str(prompts), "--save"),
        *("--tokens", "32", "--warmup-steps", "1", "--out", str(tmp_path / "run")),
    )
    assert finished.returncode == 0, finished.stderr
    run = Captured.read(tmp_path / "run").run
    keys = ("guidance", "negative_prompt", "prompt", "batch", "max_sequence_length")
    assert [run[key] for key in keys] == [3.5, "", ["one", "two"], 2, 32]
    assert run["warmup_inputs"] == {"steps": 1}
    assert "wall_time_ns" in run
    assert run["missing"].keys() == {"offload"}
    images = sorted((tmp_path / "run").glob("*.png"))
    assert [path.name for path in images] == ["image-0.png", "image-1.png"]
    from PIL import Image

    assert Image.open(images[0]).size == (80, 48)


@pytest.mark.parametrize(
    "flag",
    [
        "--regional",
        "--dynamic",
        "--compile-parts=vae",
        "--compile-mode=default",
        "--compile-cache=c",
    ],
)
def test_options_of_compilation_need_compile(flag):
    with pytest.raises(UsageError, match="needs --compile"):
        main.run(["flux", "--tiny", flag, "--no-profile"])


def test_a_missing_compiler_says_what_to_install(monkeypatch, tmp_path):
    from torch._inductor.cpp_builder import cpp_compiler_search

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    cpp_compiler_search.cache_clear()  # other tests have compiled in this process
    with pytest.raises(CaptureError, match=r"install g\+\+"):
        check_compiler("cpu")
    with pytest.raises(CaptureError, match="pip install triton"):
        check_compiler("cuda")


def only_line(finished: Finished) -> str:
    """Return the line of a command that failed, without the one that says what it will do."""
    assert (finished.returncode, finished.stdout) == (1, "")
    (line,) = (line for line in finished.stderr.splitlines() if "denoising steps, to" not in line)
    return line


def test_a_missing_package_says_what_to_install(run_capture_here, monkeypatch, tmp_path):
    packages = ("torch", "diffusers", "transformers")
    for package in packages:  # else they would find each other absent, and remember it
        import_module(package)
    for package in packages:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            finished = run_capture_here("flux", "--tiny", "--out", str(tmp_path / "run"))
        line = only_line(finished)
        assert f"cannot import {package}" in line
        assert 'pip install "tracehouse[capture]"' in line


def test_a_missing_model_is_a_one_line_error(run_loaded_capture, tmp_path):
    for model in (str(tmp_path), "nobody/nothing"):
        finished = run_loaded_capture("flux", "--model", model, "--out", str(tmp_path / "run"))

        assert model in only_line(finished)
        assert not (tmp_path / "run").exists()


def test_a_file_without_prompts_is_an_error(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    with pytest.raises(CaptureError, match="has no prompts") as caught:
        main.run(["flux", "--tiny", "--prompts", str(empty), "--no-profile"])
    assert caught.value.exit_code == 1


@pytest.mark.parametrize(
    ("kind", "pipeline", "strength", "steps"),
    [
        ("flux", "FluxImg2ImgPipeline", 0.6, 3),
        ("sdxl", "StableDiffusionXLImg2ImgPipeline", 0.3, 1),
    ],
)
def test_a_pipeline_can_start_from_an_image(
    kind, pipeline, strength, steps, run_loaded_capture, tmp_path
):
    """Only a share of the five steps runs: the default strength of the pipeline."""
    given = ("--image", "random", "--steps", "5", "--height", "32", "--save", "--batch", "2")
    out = ("--warmup", "0", "--out", str(tmp_path / "run"))
    finished = run_loaded_capture(kind, "--tiny", *given, *out)
    assert finished.returncode == 0, finished.stderr
    captured = Captured.read(tmp_path / "run")
    keys = ("pipeline", "image", "strength", "steps", "height", "width")
    assert [captured.run[key] for key in keys] == [pipeline, "random", strength, steps, 32, 64]
    assert len(captured.steps) == len(captured.run["step_times_ns"]) == steps
    from PIL import Image

    assert Image.open(tmp_path / "run" / "image-0.png").size == (64, 32)


def test_the_output_depends_on_the_image(tmp_path):
    from PIL import Image

    given = tmp_path / "red.png"
    Image.new("RGBA", (10, 20), "red").save(given)
    pipeline = load("flux", None, with_image=True)
    made = [
        np.asarray(generate(pipeline, Inputs(steps=2, strength=1 / 2, image=image)).images[0])
        for image in (str(given), "random", "random")
    ]
    assert (made[1] == made[2]).all()
    assert (made[0] != made[1]).any()


def test_a_video_can_start_from_an_image():
    with warnings.catch_warnings():
        # diffusers would warn about a deprecated parameter.
        warnings.simplefilter("error", FutureWarning)
        pipeline = load("ltx", None, with_image=True, dtype="bfloat16")
    assert (type(pipeline).__name__, str(pipeline.dtype)) == (
        "LTXImageToVideoPipeline",
        "torch.bfloat16",
    )
    inputs = Inputs(steps=1, frames=9, image="random", max_sequence_length=64, batch=2)
    assert len(generate(pipeline, inputs).frames) == 2


def test_an_unreadable_image_is_an_error(tmp_path):
    no_image = tmp_path / "text.png"
    no_image.write_text("no image")
    with pytest.raises(CaptureError, match=r"text\.png: not an image"):
        read_image(str(no_image), 64, 64, 0)
    with pytest.raises(CaptureError, match="cannot be read as an image: No such file"):
        read_image(str(tmp_path / "none.png"), 64, 64, 0)
    with pytest.raises(CaptureError, match="WanPipeline: diffusers has no variant"):
        load("wan", None, with_image=True)


def test_a_strength_that_leaves_no_step_is_an_error():
    pipeline = load("sdxl", None, with_image=True)
    with pytest.raises(CaptureError, match=r"0\.3, less than one of 3 denoising steps"):
        check_inputs(pipeline, Inputs(steps=3, image="random", strength=0.3))
    with pytest.raises(CaptureError, match="FluxPipeline has no parameter strength"):
        check_inputs(load("flux", None), Inputs(image="random", strength=0.3))


def test_a_strength_needs_an_image():
    with pytest.raises(UsageError, match="--strength needs --image"):
        main.run(["flux", "--tiny", "--strength", "0.5", "--no-profile"])


def test_a_sweep_process_measures_a_pipeline(run_loaded_capture, tmp_path):
    file = tmp_path / "1.json"
    finished = run_loaded_capture(
        *("flux", "--tiny", "--steps", "1", "--batch", "2", "--height", "32", "--width", "48"),
        *("--measure", str(file), "--measured-calls", "2", "--warmup-height", "48"),
    )
    assert finished.returncode == 0, finished.stderr
    found = json.loads(file.read_text())
    assert found["images"] == 2
    assert len(found["call_times_ns"]) == 2
    assert found["compilation"] is None
    assert found["warmup_times_ns"] is None  # warm-up calls have another size
    assert found["peak_bytes"] > 1 << 20
    made = np.load(file.with_suffix(".npy"))
    assert made.shape == (2, 32, 48, 3)
    assert 0 <= made.min() < made.max() <= 1
