"""The command `ingest open`: a trace, or a part of a run, served to a browser."""

import gzip
import http.client
import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette

from ingest.export.chrome import ChromeTrace
from ingest.perfetto.server import ShownTrace, trace_routes
from tests.builders.events import host, op
from tests.conftest import Traces
from tests.helpers.command import Command
from tests.ingest.perfetto.serving import opened

pytestmark = pytest.mark.slow  # starts servers


def fetched(address: str) -> bytes:
    with urllib.request.urlopen(address) as answer:
        content = answer.read()
        assert isinstance(content, bytes)
        return content


@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_is_served_unchanged(compressed: bool, traces: Traces, tmp_path: Path) -> None:
    file = traces.write([op("aten::mm")])
    if compressed:
        content = gzip.compress(file.read_bytes())
        file = tmp_path / "trace.json.gz"
        file.write_bytes(content)
    with opened(file) as address:
        assert fetched(f"{address}/trace") == file.read_bytes()
        assert b"view.js" in fetched(f"{address}/view")


STEPS = [
    event
    for n in (0, 1)
    for event in (host(f"ProfilerStep#{n}", "user_annotation", 100 * n, 90), op("a", 100 * n + 9))
]


def test_a_step_of_a_file_or_of_a_run_can_be_opened(traces: Traces) -> None:
    file = traces.write(STEPS)
    traces.store.add(file)
    for arguments in ((file,), ("trace", "--store", traces.store.path)):
        with opened(*arguments, "--step", "1") as address:
            events = json.loads(fetched(f"{address}/trace"))["traceEvents"]
        assert [e["name"] for e in events if e["ph"] == "X"] == ["ProfilerStep#1", "a"]


def test_an_interrupted_trace_is_an_incomplete_response() -> None:
    def broken() -> Iterator[bytes]:
        yield b'{"traceEvents": ['
        raise OSError("the run was removed")

    shown = ShownTrace("run", ChromeTrace(0, None, broken()))
    server = uvicorn.Server(
        uvicorn.Config(Starlette(routes=trace_routes("/perfetto", lambda _: shown)), log_level=60)
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = threading.Thread(target=server.run, args=([listening],))
        serving.start()
        try:
            with pytest.raises(http.client.IncompleteRead):
                fetched(f"http://127.0.0.1:{listening.getsockname()[1]}/perfetto/trace")
        finally:
            server.should_exit = True
            serving.join()


def test_runs_that_cannot_be_opened_are_errors(traces: Traces, command: Command) -> None:
    traces.store.add(traces.write(STEPS))
    for arguments, message in (
        (["nothing"], "no such run"),
        (["trace", "--step", "7"], "rank 0 has no step 7; its steps are 0 to 1"),
        (["trace", "--port", "99999"], "port 99999: must be from 0 to 65535"),
    ):
        done = command("open", "--no-browser", *arguments)
        assert done.code == 1, arguments
        assert message in done.err


def test_a_port_in_use_is_an_error(traces: Traces, command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = command("open", "--no-browser", traces.write([op("a")]), "--port", port)
    assert done.code == 1
    assert f"port {port}: Address already in use; choose another with --port" in done.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", "hello", "notes.txt: neither a JSON object nor an array"),
        ("run.json", '{"model": "x"}', "run.json: is not a trace"),
        ("gone.json", None, "gone.json: no such file"),
        ("", None, "is a directory; add it with `ingest add`, then open the run"),
    ],
)
def test_files_that_are_not_traces_are_errors(
    name: str, content: str | None, message: str, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    done = command("open", "--no-browser", file)
    assert done.code == 1
    assert message in done.err
