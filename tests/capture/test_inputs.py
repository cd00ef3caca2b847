"""What a pipeline is called with, by the options of the command line."""

import pytest

from capture.pipelines.calls import Inputs, generate, known_inputs
from capture.recording.denoisers import denoisers
from tests.capture.captured import Captured

pytestmark = pytest.mark.usefixtures("capture_extra")


class Pipeline:
    """Takes what a video pipeline takes, and keeps what it was called with."""

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


def test_what_is_not_asked_for_is_left_to_the_pipeline():
    pipeline = Pipeline()
    generate(pipeline, Inputs())
    assert pipeline.called["num_frames"] == 8
    assert pipeline.called["guidance_scale"] == 5.0


def test_a_pipeline_without_a_denoiser():
    assert denoisers(Pipeline()) == {}


def test_an_inference_with_all_options(run_loaded_capture, tmp_path):
    """On a CPU, where nothing can be offloaded."""
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("one\n\ntwo\n")
    finished = run_loaded_capture(
        *("flux", "--tiny", "--steps", "2", "--height", "48", "--width", "80", "--offload"),
        *("--guidance", "3.5", "--negative-prompt", "", "--prompts", str(prompts), "--save"),
        *("--tokens", "32", "--warmup-steps", "1", "--out", str(tmp_path / "run")),
    )
    assert finished.returncode == 0, finished.stderr
    run = Captured.read(tmp_path / "run").run
    said = ("guidance", "negative_prompt", "prompt", "batch", "max_sequence_length")
    assert [run[key] for key in said] == [3.5, "", ["one", "two"], 2, 32]
    assert run["warmup_inputs"] == {"steps": 1}
    assert "wall_time_ns" in run
    assert run["missing"].keys() == {"offload"}
    images = sorted((tmp_path / "run").glob("*.png"))
    assert [path.name for path in images] == ["image-0.png", "image-1.png"]
    from PIL import Image

    assert Image.open(images[0]).size == (80, 48)


@pytest.mark.parametrize(
    "flag", ["--regional", "--dynamic", "--compile-parts=vae", "--compile-mode=default"]
)
def test_options_of_compilation_need_it(flag, run_loaded_capture):
    finished = run_loaded_capture("flux", "--tiny", flag, "--no-profile")
    assert finished.returncode == 1
    assert "needs --compile" in finished.stderr


def test_a_file_without_prompts_is_one_error(run_loaded_capture, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    finished = run_loaded_capture("flux", "--tiny", "--prompts", str(empty), "--no-profile")
    assert finished.returncode == 1
    assert "no prompt in it" in finished.stderr
