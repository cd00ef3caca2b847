"""Faults of S3: commands try again, and a fault that stays is a clear error."""

import os

import pytest

import ingest
from tests.helpers.command import Command
from tests.helpers.faulty_s3 import faulty
from tests.ingest.store.lake.answers import all_rows


@pytest.fixture
def others(small: ingest.Store) -> list[str]:
    """The two runs of `small` that the lake lacks."""
    return [small.find(name) for name in ("first", "second")]


def test_faults_that_pass_change_nothing(
    command: Command,
    small: ingest.Store,
    s3: str,
    others: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with faulty(os.environ["AWS_ENDPOINT_URL"], every=10) as (address, faults):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        pushed = command("push", s3, *others, store=small.path)
        assert pushed.err == ""
        edited = command("edit", others[0], "--model", "m", "--store", s3)
        assert edited.err == ""
        assert all_rows(s3, ["events", "kernels"]) == all_rows(small.path, ["events", "kernels"])
        assert command("list", "--store", s3).err == ""
        assert {"SlowDown", "InternalError", "truncated", "lost"} <= faults().keys()


def test_expired_credentials_are_an_error(
    command: Command, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with faulty(os.environ["AWS_ENDPOINT_URL"]) as (address, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        result = command("list", "--store", s3)
    assert result.code == 1
    assert result.err == f"error: {s3}: cannot read the store: the credentials have expired\n"
