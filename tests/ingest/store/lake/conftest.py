"""Lakes for tests, in directories and on a server with the interface of S3."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ingest
from ingest.store.lake import push as pushing

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


@pytest.fixture
def s3(empty_s3: str, small_lake: Path) -> str:
    """The URL of a copy of the small lake on a server with the interface of S3."""
    import s3fs

    s3fs.S3FileSystem().put(f"{small_lake}/", f"{empty_s3}/", recursive=True)
    return empty_s3


@pytest.fixture
def empty_s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A URL without a lake on a server with the interface of S3."""
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
