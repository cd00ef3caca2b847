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


def test_a_file_at_the_path_of_the_directory_is_an_error(run_capture_here, tmp_path):
    (tmp_path / "run").write_text("mine")

    finished = run_capture_here("flux", "--tiny", "--out", str(tmp_path / "run"))

    assert_one_line(finished, str(tmp_path / "run"), "File exists")


def test_incomplete_options_are_refused(run_capture_here, tmp_path):
    usage = "capture run [options] -- script.py"
    for arguments, *expected in (
        (("sd3", "--tiny", "--fullgraph"), "--compile"),
        (("compare", "sd3", "--tiny", "--no-profile"), "--no-profile"),
        (("run",), usage),
        (("run", "--", "-m"), usage),
        (("run", "--", "-m", "nobodys"), "nobodys", "no such module"),
        (("run", "--", str(tmp_path / "gone.py")), "gone.py", "no such file"),
    ):
        assert_one_line(run_capture_here(*arguments), *expected, code=2)


def test_a_missing_torch_says_what_to_install(capture_extra, run_capture, tmp_path):
    finished = run_capture("flux", "--tiny", "--out", str(tmp_path / "run"), absent=("torch",))

    assert_one_line(finished, "torch", 'pip install "tracehouse[capture]"')


def test_wrong_usage_exits_with_2(run_capture_here):
    for arguments in (
        [],
        ["--tiny", "--model", "x"],
        ["--tiny", "--out", "run", "--steps", "0"],
        ["--tinny"],
    ):
        finished = run_capture_here("flux", *arguments)
        assert (finished.returncode, finished.stdout) == (2, "")
        assert finished.stderr


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
