"""Faults of S3: commands try again, and a fault that stays is a clear error."""

import os
from itertools import count, cycle

import pytest

import ingest
from tests.helpers.command import Command
from tests.helpers.faulty_s3 import (
    EXPIRED,
    INTERNAL,
    LOST,
    SLOW_DOWN,
    TRUNCATED,
    Fault,
    Plan,
    faulty,
)
from tests.ingest.store.lake.answers import all_rows


def often() -> Plan:
    """Return a plan in which every fourth new request gets a fault, each kind in turn."""
    reading, writing = cycle((SLOW_DOWN, INTERNAL, TRUNCATED)), cycle((SLOW_DOWN, LOST))
    new = count()

    def plan(method: str, path: str, before: int) -> Fault:
        if before or next(new) % 4:
            return None
        return next(reading) if method == "GET" else next(writing)

    return plan


@pytest.fixture
def others(small: ingest.Store) -> list[str]:
    """The two runs of `small` that the lake lacks."""
    return [small.find(name) for name in ("first", "second")]


def expired(method: str, path: str, before: int) -> Fault:
    """Answer each request as if the credentials were too old."""
    return EXPIRED


def test_faults_that_pass_change_nothing(
    command: Command,
    small: ingest.Store,
    s3: str,
    others: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with faulty(os.environ["AWS_ENDPOINT_URL"], often()) as (address, faults):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        pushed = command("push", s3, *others, store=small.path)
        assert (pushed.code, pushed.err) == (0, "")
        edited = command("edit", others[0], "--model", "m", "--store", s3)
        assert (edited.code, edited.err) == (0, "")
        assert all_rows(s3, ["events", "kernels"]) == all_rows(small.path, ["events", "kernels"])
        assert command("list", "--store", s3).code == 0
    assert {"SlowDown", "InternalError", "truncated", "lost"} <= faults.keys()


def test_expired_credentials_are_an_error(
    command: Command, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with faulty(os.environ["AWS_ENDPOINT_URL"], expired) as (address, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        result = command("list", "--store", s3)
    assert result.code == 1
    assert result.err == f"error: {s3}: cannot read the store: the credentials have expired\n"
