"""Directories that are kept between sessions of tests."""

import shutil

import pytest

from tests.helpers.kept_directories import VERSIONS, KeptDirectories


@pytest.fixture
def kept(tmp_path):
    return KeptDirectories(tmp_path / "kept")


@pytest.fixture
def directory(tmp_path):
    path = tmp_path / "run"
    (path / "inner").mkdir(parents=True)
    (path / "inner" / "rows").write_text("1 2 3")
    return path


def test_a_kept_directory_is_copied_with_its_times(kept, directory, tmp_path):
    assert not kept.copy("run", "a1", tmp_path / "early")
    kept.keep("run", "a1", directory)
    kept.keep("run", "a1", directory)
    assert kept.copy("run", "a1", tmp_path / "copy")
    assert (tmp_path / "copy" / "inner" / "rows").read_text() == "1 2 3"
    copied, original = (path / "inner" for path in (tmp_path / "copy", directory))
    assert copied.stat().st_mtime_ns == original.stat().st_mtime_ns
    assert not kept.copy("run", "b2", tmp_path / "other")


@pytest.mark.parametrize(
    "damage", ["content/inner/rows", "content/inner", "content", "listing.json"]
)
def test_what_has_been_deleted_in_part_is_not_copied(kept, directory, tmp_path, damage):
    kept.keep("run", "a1", directory)
    path = kept.path / "run-a1" / damage
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert not kept.copy("run", "a1", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    kept.keep("run", "a1", directory)
    assert kept.copy("run", "a1", tmp_path / "copy")


def test_only_the_last_versions_of_a_name_stay(kept, directory, tmp_path):
    kept.keep("run-2", "f0", directory)
    for number in range(VERSIONS + 2):
        kept.keep("run", f"a{number}", directory)
        assert kept.copy("run", "a0", tmp_path / f"used{number}")  # so that it is not the oldest
    assert sorted(path.name for path in kept.path.iterdir()) == [
        "run-2-f0",
        "run-a0",
        *(f"run-a{number}" for number in range(3, VERSIONS + 2)),
    ]
