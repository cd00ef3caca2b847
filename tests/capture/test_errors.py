"""Errors of `capture`: one line on stderr, nothing on stdout, no files."""

import pytest

from capture.errors import CaptureError
from capture.output.run_directory import atomic_write


def assert_one_line(finished, *expected: str, code: int = 1) -> None:
    """Assert that the command failed with `code` and one line that has the expected texts."""
    assert finished.returncode == code
    assert finished.stdout == ""
    (line,) = (line for line in finished.stderr.splitlines() if "denoising steps, to" not in line)
    for text in expected:
        assert text in line


def test_a_directory_in_use_is_refused_and_left_alone(run_capture, tmp_path):
    (tmp_path / "run.json").write_text("mine")

    finished = run_capture("flux", "--tiny", "--out", str(tmp_path))

    assert_one_line(finished, str(tmp_path), "not empty")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_at_the_path_of_the_directory_is_an_error(run_capture, tmp_path):
    (tmp_path / "run").write_text("mine")

    finished = run_capture("flux", "--tiny", "--out", str(tmp_path / "run"))

    assert_one_line(finished, str(tmp_path / "run"), "File exists")


def test_a_missing_model_is_a_one_line_error(run_loaded_capture, tmp_path):
    for model in (str(tmp_path), "nobody/nothing"):
        finished = run_loaded_capture("flux", "--model", model, "--out", str(tmp_path / "run"))

        assert_one_line(finished, model)
        assert not (tmp_path / "run").exists()


def test_incomplete_options_are_refused(run_capture, tmp_path):
    assert_one_line(run_capture("sd3", "--tiny", "--fullgraph"), "--compile", code=2)
    assert_one_line(run_capture("compare", "sd3", "--tiny", "--no-profile"), "--no-profile", code=2)
    assert_one_line(run_capture("run"), "capture run [options] -- script.py", code=2)
    assert_one_line(run_capture("run", "--", "-m"), "capture run [options] -- script.py", code=2)
    assert_one_line(run_capture("run", "--", "-m", "nobodys"), "nobodys", "no such module", code=2)
    assert_one_line(
        run_capture("run", "--", str(tmp_path / "gone.py")), "gone.py", "no such file", code=2
    )


def test_a_missing_compiler_says_what_to_install(capture_extra, monkeypatch, tmp_path):
    from torch._inductor.cpp_builder import cpp_compiler_search

    from capture.pipelines.compiling import check_compiler

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    cpp_compiler_search.cache_clear()  # other tests have compiled in this process
    with pytest.raises(CaptureError, match=r"install g\+\+"):
        check_compiler("cpu")
    with pytest.raises(CaptureError, match="pip install triton"):
        check_compiler("cuda")


@pytest.mark.parametrize("package", ["torch", "diffusers", "transformers"])
def test_a_missing_package_says_what_to_install(package, capture_extra, run_capture, tmp_path):
    finished = run_capture("flux", "--tiny", "--out", str(tmp_path / "run"), absent=(package,))

    assert_one_line(finished, package, 'pip install "tracehouse[capture]"')


@pytest.mark.parametrize(
    "arguments",
    [[], ["--tiny", "--model", "x"], ["--tiny", "--out", "run", "--steps", "0"], ["--tinny"]],
)
def test_wrong_usage_exits_with_2(arguments, run_capture):
    finished = run_capture("flux", *arguments)

    assert finished.returncode == 2
    assert finished.stdout == ""


def test_a_file_is_written_completely_or_not_at_all(tmp_path):
    def write_half(path):
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            assert not path.exists()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half(tmp_path / "run.json")
    assert list(tmp_path.iterdir()) == []

    with atomic_write(tmp_path / "run.json") as temporary:
        temporary.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_an_unwritable_file_is_an_error(tmp_path):
    path = tmp_path / "gone" / "run.json"

    with pytest.raises(CaptureError, match="No such file"), atomic_write(path) as temporary:
        temporary.write_text("whole")
