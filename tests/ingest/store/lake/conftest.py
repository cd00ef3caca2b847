"""Lakes for tests, in directories and on a server with the interface of S3."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ingest
from ingest.store.lake import push as pushing
from tests.builders.events import op
from tests.helpers.recorded import COMPILED, DEVICE, EAGER, NETWORK, SNAPSHOT, TWO_RANKS
from tests.helpers.stores import locked

BUCKET = "profiles"
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def local(recorded_store: Path) -> ingest.Store:
    """A store in a directory. Tests must not change it."""
    return ingest.Store(recorded_store)


@pytest.fixture(scope="module")
def lake(local: ingest.Store, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A lake with the runs of that store. Tests must not change it."""
    url = f"file://{tmp_path_factory.mktemp('lake')}/runs"
    assert list(pushing.push(local, url, local.run_ids())) == [local.run_ids()]
    return url


@pytest.fixture(scope="session")
def small(shared: Path, recorded_store: Path) -> ingest.Store:
    """A store of five small runs. Tests share it and must not change it."""
    path, done = shared / "small", shared / "small.done"
    with locked(shared / "small.lock"):
        if not done.exists():
            shutil.copytree(recorded_store, path, symlinks=True)
            store = ingest.Store(path)
            store.remove(*map(store.find, (EAGER, COMPILED, TWO_RANKS)))
            for name in ("first", "second"):
                trace = shared / f"{name}.json"
                trace.write_text(json.dumps({"traceEvents": [op(name, 0, 10)]}))
                store.add(trace)
            done.touch()
    return ingest.Store(path)


@pytest.fixture(scope="session")
def small_lake(shared: Path, small: ingest.Store) -> Path:
    """The directory of a lake with a batch for each of three small runs. Tests copy it."""
    path, done = shared / "small_lake", shared / "small_lake.done"
    with locked(shared / "small_lake.lock"):
        if not done.exists():
            for name in (DEVICE, NETWORK, SNAPSHOT):
                list(pushing.push(small, f"file://{path}", [small.find(name)]))
            done.touch()
    return path


@pytest.fixture
def own_lake(tmp_path: Path, small_lake: Path) -> str:
    """The URL of a copy of that lake, for exclusive use by the test."""
    shutil.copytree(small_lake, tmp_path / "lake")
    return f"file://{tmp_path}/lake"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of a bucket of a server with the interface of S3."""
    settings = {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "REGION": "us-east-1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = next(line.strip() for line in server.stdout if line.strip().isdigit())
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        import s3fs

        s3fs.S3FileSystem.clear_instance_cache()
        s3fs.S3FileSystem().mkdir(BUCKET)
        yield f"s3://{BUCKET}/runs"
        s3fs.S3FileSystem.clear_instance_cache()
        server.kill()
