"""The stages of diffusers pipelines in traces. Pipelines stay otherwise unchanged."""

import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from capture import Profiler
from tests.capture.captured import Captured

pytestmark = pytest.mark.usefixtures("capture_extra")

LABELS = r"(pipeline|stage|block): .*|ProfilerStep#\d+"


def marks(directory: Path) -> list[str]:
    """Return the marks of a trace by start, each with its outer marks: `a/b/c`."""
    found = []
    around: list[tuple[str, float]] = []
    for event in sorted(
        Captured.read(directory).named(LABELS), key=lambda event: (event["ts"], -event["dur"])
    ):
        around = [(name, end) for name, end in around if end > event["ts"]]
        around.append((event["name"].rpartition(": ")[2], event["ts"] + event["dur"]))
        found.append("/".join(name for name, _ in around))
    return found


def a_pipeline(**parts: Any) -> Any:
    """Build a pipeline of two steps. In each, a transformer of two blocks adds 1 to its input."""
    import torch
    from diffusers import DiffusionPipeline

    class Block(torch.nn.Module):
        def forward(self, latents: torch.Tensor) -> torch.Tensor:
            return latents + 0.5

    class Transformer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList([Block(), Block()])

        def forward(self, latents: torch.Tensor) -> torch.Tensor:
            for block in self.blocks:
                latents = block(latents)
            return latents

    class VAE(torch.nn.Module):
        def decode(self, latents: torch.Tensor) -> torch.Tensor:
            return latents * 2

    class Own(DiffusionPipeline):
        def __init__(self, transformer: Any, transformer_2: Any = None) -> None:
            super().__init__()
            self.register_modules(transformer=transformer, transformer_2=transformer_2, vae=VAE())

        def encode_prompt(self, prompt: float) -> torch.Tensor:
            return torch.tensor([prompt])

        def __call__(self, prompt: float, fail: BaseException | None = None) -> torch.Tensor:
            latents = self.encode_prompt(prompt)
            with self.progress_bar(total=2) as bar:
                for step in range(2):
                    parts = [self.transformer_2, self.transformer]
                    latents = (parts[step] or self.transformer)(latents)
                    if fail:
                        raise fail
                    bar.update()
            return self.vae.decode(latents)

    pipeline = Own(Transformer(), **{name: Transformer() for name in parts})
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def attributes(pipeline: Any) -> list[object]:
    """Return all attributes of a pipeline, its parts and its classes."""
    owners = [type(pipeline), type(pipeline).__mro__[1], pipeline, pipeline.vae]
    owners += [pipeline.vae, *pipeline.transformer.modules()]
    return [dict(vars(owner)) for owner in owners]


CALL = [
    "Own",
    "Own/encode",
    "Own/denoise",
    "Own/denoise/ProfilerStep#0",
    "Own/denoise/ProfilerStep#0/Block",
    "Own/denoise/ProfilerStep#0/Block",
    "Own/denoise/ProfilerStep#1",
    "Own/denoise/ProfilerStep#1/Block",
    "Own/denoise/ProfilerStep#1/Block",
    "Own/decode",
]


def test_a_call_is_marked_and_the_pipeline_unchanged(tmp_path):
    pipeline = a_pipeline()
    before = attributes(pipeline)
    with Profiler(output_dir=tmp_path / "run"):
        result = pipeline(1.0)

    assert result.item() == 6
    assert marks(tmp_path / "run") == CALL
    assert attributes(pipeline) == before


def test_a_class_defined_in_the_body_and_two_denoisers_are_marked(tmp_path):
    import diffusers

    assert diffusers.DiffusionPipeline
    with Profiler(output_dir=tmp_path / "run"):
        a_pipeline(transformer_2=True)(1.0)

    assert marks(tmp_path / "run") == CALL


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_the_pipeline_is_unchanged_after_an_error(error, tmp_path):
    pipeline = a_pipeline()
    before = attributes(pipeline)
    with pytest.raises(type(error)), Profiler(output_dir=tmp_path / "run"):
        pipeline(1.0, fail=error)

    assert marks(tmp_path / "run") == CALL[:6]
    assert attributes(pipeline) == before


def test_a_call_on_another_thread_has_no_marks_and_leaves_those_of_this_thread(tmp_path):
    pipeline = a_pipeline()
    results = []
    steps = count()

    def call_on_another_thread(*_: object) -> None:
        if threading.current_thread() is threading.main_thread() and next(steps) == 1:
            thread = threading.Thread(target=lambda: results.append(pipeline(1.0).item()))
            thread.start()
            thread.join()

    pipeline.transformer.register_forward_pre_hook(call_on_another_thread)  # in the last step
    with Profiler(output_dir=tmp_path / "run"):
        results.append(pipeline(1.0).item())

    assert results == [6, 6]
    assert marks(tmp_path / "run") == CALL


def test_stages_are_marked_without_taking_denoising_steps(tmp_path):
    pipeline = a_pipeline()
    with Profiler(output_dir=tmp_path / "run", hook_pipelines=False) as profiler:
        for _ in range(2):
            pipeline(1.0)
            profiler.step()

    found = marks(tmp_path / "run")
    assert found[:4] == [
        "ProfilerStep#0",
        *(f"ProfilerStep#0/Own{rest}" for rest in ("", "/encode", "/denoise")),
    ]
    assert "ProfilerStep#1/Own/denoise/Block" in found


def test_a_pipeline_inside_another_one_is_marked(tmp_path):
    from diffusers import DiffusionPipeline

    class Outer(DiffusionPipeline):
        def __call__(self) -> Any:
            for _ in self.progress_bar(range(1)):
                result = inner(1.0)
            return result

    inner = a_pipeline()
    with Profiler(output_dir=tmp_path / "run", hook_pipelines=False):
        Outer()()

    found = marks(tmp_path / "run")
    assert found[1:5] == [
        f"ProfilerStep#0/{name}"
        for name in ("Outer", "Outer/denoise", "Outer/denoise/Own", "Outer/denoise/Own/encode")
    ]
    assert found[-1] == "ProfilerStep#0/Outer/denoise/Own/decode"


@pytest.fixture
def compilations() -> Iterator[None]:
    """Remove all compilations after the test, so that other tests do not see them."""
    import torch._dynamo

    yield
    torch._dynamo.reset()
    torch._dynamo.utils.clear_compilation_metrics()


@pytest.mark.usefixtures("compilations")
@pytest.mark.filterwarnings("ignore:TORCH_TRACE")
@pytest.mark.parametrize("regional", [False, True])
def test_marks_cause_no_recompilation(regional, tmp_path):
    import torch

    pipeline = a_pipeline()
    graphs = []

    def backend(graph: torch.fx.GraphModule, _: object) -> object:
        graphs.append(graph)
        return graph.forward

    compiled = pipeline.transformer.blocks if regional else [pipeline.transformer]
    for module in compiled:
        module.compile(backend=backend)
    pipeline(1.0)
    compiled_before = len(graphs)
    before = attributes(pipeline)
    with Profiler(output_dir=tmp_path / "run"):
        pipeline(1.0)
    pipeline(1.0)

    assert compiled_before > 0
    assert len(graphs) == compiled_before
    assert attributes(pipeline) == before
    blocks = [mark for mark in marks(tmp_path / "run") if mark.endswith("/Block")]
    assert len(blocks) == (4 if regional else 0)


def test_a_schedule_that_begins_inside_a_call_marks_its_steps(tmp_path):
    pipeline = a_pipeline()
    with Profiler(output_dir=tmp_path / "run", skip_first=1, warmup=0, active=1):
        pipeline(1.0)

    assert marks(tmp_path / "run") == [
        "ProfilerStep#1",
        "ProfilerStep#1/Block",
        "ProfilerStep#1/Block",
    ]
