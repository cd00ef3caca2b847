"""Work on runs on a Dask cluster: workers on other machines, or processes of this one.

A worker keeps what a task returned until another task or this process needs it. If a worker dies,
Dask runs its tasks again elsewhere.
"""

import atexit
import os
import re
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar

from ingest import sql
from ingest.errors import IngestError, first_line
from ingest.store.workers import Content, Item, Processes, Workers, Writing
from ingest.store.written import NewRun, Packed, Read, Written
from ingest.temporary import temporary_directory

LOCAL = re.compile(r"local:([1-9][0-9]*)")
TRIES = 3
CONNECT_SECONDS = 10
REPORT_SECONDS = 0.5
TASKS_OF_THREAD = 4  # that are submitted at a time

T = TypeVar("T")
Start = Callable[[Sequence[int]], list[Any]]  # starts a task for each of some items

_busy = threading.Lock()  # a worker with several threads does one piece of work at a time


@dataclass(frozen=True)
class Remote(NewRun):
    """A run that a worker wrote. `packed` is its content there."""

    size: int
    packed: Any = None

    @property
    def bytes(self) -> int:
        """The size of the run's files."""
        return self.size

    def forget(self) -> None:
        """Let the worker forget the run."""
        if self.packed:
            self.packed.release()


class Cluster:
    """The workers of a cluster. `cluster_at` opens it."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def write_all(
        self,
        items: Sequence[Item],
        work: Writing[Item],
        progress: Callable[[Item, float], None] | None = None,
    ) -> Generator[tuple[Item, Read | IngestError], None, None]:
        """Run `work` on each item. Yield each item with its outcome, as soon as it is known.

        A run that a worker wrote becomes a `Remote`.
        """
        topic = f"tracehouse-{uuid.uuid4().hex}"  # other commands may use the same cluster
        shared = self._submit(_same, work)  # a task, which can run again
        contents: dict[int, Any] = {}

        def advance(event: tuple[float, tuple[int, float]]) -> None:
            number, done = event[1]
            if progress:
                progress(items[number], done)

        def start(numbers: Sequence[int]) -> list[Any]:
            # A worker has another current directory.
            chosen = [_absolute(items[number]) for number in numbers]
            packed = self._map(_pack, numbers, chosen, work=shared, topic=topic)
            contents.update(zip(numbers, packed, strict=True))
            return [self._submit(_summary, each) for each in packed]

        self._client.subscribe_topic(topic, advance)
        for number, outcome in self._outcomes(items, start):
            content = contents.pop(number)
            if isinstance(outcome, Remote):
                outcome = replace(outcome, packed=content)
            del content  # a worker keeps it as long as there is a reference
            yield items[number], outcome

    def map(
        self, items: Sequence[Item], function: Callable[[Item], T]
    ) -> Generator[tuple[Item, T | IngestError], None, None]:
        """Call a function for each item. Yield each item with its outcome, once it is known."""
        shared = self._submit(_same, function)

        def start(numbers: Sequence[int]) -> list[Any]:
            return self._map(_call, [items[number] for number in numbers], function=shared)

        for number, outcome in self._outcomes(items, start):
            yield items[number], outcome

    def call(self, function: Callable[[Content], T], runs: Mapping[str, NewRun]) -> T:
        """Call a function on a worker (`Workers.call`)."""
        packed = {i: run.packed for i, run in runs.items() if isinstance(run, Remote)}
        digests = {run_id: run.digest for run_id, run in runs.items()}
        version = sql.logic_version()

        def start(_: Sequence[int]) -> list[Any]:
            return [self._submit(_call_with, function, packed, digests, version)]

        answer: T = self._result(f"a batch with {min(runs)}", start)
        return answer

    def fetch(self, run: NewRun) -> Written | Packed:
        """Return the content of a new run here. Raise IngestError if it cannot be written again."""
        assert isinstance(run, Remote)
        fetched: Packed = self._result(run.name, lambda _: [run.packed])
        return fetched

    def _result(self, name: str, start: Start) -> Any:
        [(_, outcome)] = self._outcomes([name], start)
        if isinstance(outcome, IngestError):
            raise outcome
        return outcome

    def _outcomes(self, items: Sequence[object], start: Start) -> Iterator[tuple[int, Any]]:
        """Yield the number and the outcome of each item, as soon as it is known.

        `start` submits a task for each of some items. If a worker dies, Dask blames all its tasks.
        So those that were blamed often run once more, one after the other.
        """
        blamed = []
        for number, outcome in self._completed(items, range(len(items)), start):
            if isinstance(outcome, _DeathError):
                blamed.append(number)
            else:
                yield number, outcome
        for number in blamed:
            yield from self._completed(items, [number], start)

    def _completed(
        self, items: Sequence[object], numbers: Sequence[int], start: Start
    ) -> Iterator[tuple[int, Any]]:
        """Yield the number and the outcome of each task. An exception becomes an IngestError."""
        from distributed import CancelledError, as_completed

        waiting = iter(numbers)
        tasks: dict[Any, int] = {}
        completed = as_completed([], loop=self._client.loop)
        while True:
            # Few tasks at a time, because their results stay on the workers.
            threads = sum(self._client.nthreads().values())
            chosen = list(islice(waiting, max(1, TASKS_OF_THREAD * threads - len(tasks))))
            if chosen:
                started = start(chosen)
                tasks.update(zip(started, chosen, strict=True))
                completed.update(started)
                del started
            if not tasks:
                return
            task = next(completed)
            number = tasks.pop(task)
            try:
                outcome = task.result()  # waits again if the worker that has it died since
            except CancelledError as error:
                raise IngestError("the cluster ended before the work was done") from error
            except Exception as error:
                outcome = _failure(items[number], error)
            del task
            yield number, outcome

    def _submit(self, function: Callable[..., object], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, pure=False, retries=TRIES - 1)

    def _map(self, function: Callable[..., object], /, *iterables: Any, **shared: Any) -> list[Any]:
        tasks: list[Any] = self._client.map(
            function,
            *iterables,
            pure=False,
            retries=TRIES - 1,
            version=sql.logic_version(),
            **shared,
        )
        return tasks


class _DeathError(IngestError):
    """The workers that ran a task died."""


@contextmanager
def workers_at(cluster: str | None, jobs: int) -> Iterator[Workers]:
    """Open the workers of a cluster or, without one, as many processes of this machine."""
    if cluster:
        with cluster_at(cluster) as workers:
            yield workers
    else:
        with temporary_directory() as directory:
            yield Processes(jobs, directory)


@contextmanager
def cluster_at(address: str) -> Iterator[Cluster]:
    """Open the cluster at an address: of a Dask scheduler, or `local:N` for N processes.

    Raise IngestError if there is none, or if Dask is not installed.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise IngestError(
            "a cluster needs more packages: pip install 'tracehouse[lake]'"
        ) from error
    if found := LOCAL.fullmatch(address):
        with _local_cluster(int(found[1])) as cluster:
            yield cluster
        return
    if not address.startswith(("tcp://", "tls://", "ws://", "wss://")):
        raise IngestError(f"{address}: a cluster is tcp://HOST:PORT or local:N")
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise IngestError(f"{address}: no Dask scheduler answers there") from error
    with client:
        yield Cluster(client)


@contextmanager
def _local_cluster(workers: int) -> Iterator[Cluster]:
    from distributed import Client, LocalCluster, WorkerPlugin

    class Ending(WorkerPlugin):  # type: ignore[misc]
        """Lets workers end at once. Otherwise, DuckDB would print which objects were in use."""

        def setup(self, worker: object) -> None:
            atexit.register(os._exit, 0)

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            security=True,  # other users of the machine cannot connect
        ) as local,
        Client(local) as client,
    ):
        client.register_plugin(Ending())
        local.adapt(minimum=workers, maximum=workers)  # a worker that dies as it starts comes back
        yield Cluster(client)


def _same(value: T) -> T:
    return value


def _absolute(item: Item) -> Item:
    return item if isinstance(item, str) else item.absolute()


def _check_version(version: str) -> None:
    if version != sql.logic_version():
        raise IngestError("the workers have another version of tracehouse")


def _call(item: Item, function: Callable[[Item], T], version: str) -> T | IngestError:
    """Call a function on a worker."""
    try:
        _check_version(version)
        with _busy:
            return function(item)
    except IngestError as error:
        return error


def _call_with(
    function: Callable[[Content], T], runs: Content, digests: Mapping[str, str], version: str
) -> T | IngestError:
    """Call a function with runs on a worker. They may have been written again meanwhile."""
    try:
        _check_version(version)
        for run_id, run in runs.items():
            if not isinstance(run, Packed) or run.digest != digests[run_id]:
                reason = str(run) if isinstance(run, IngestError) else "its files changed"
                raise IngestError(f"{run_id}: its worker ended, and now: {reason}")
        return function(runs)
    except IngestError as error:
        return error


def _pack(
    number: int, item: Item, work: Writing[Item], topic: str, version: str
) -> Read | IngestError:
    """Do a piece of work on a worker. Return the content of a run that it wrote."""
    from distributed import get_worker

    worker = get_worker()
    reported = time.monotonic()

    def report(done: float) -> None:
        nonlocal reported
        if time.monotonic() > reported + REPORT_SECONDS:
            reported = time.monotonic()
            worker.log_event(topic, (number, done))

    with _busy, temporary_directory() as directory:
        try:
            _check_version(version)
            read = work(item, directory, worker.state.nthreads, report)
        except IngestError as error:  # another worker would find the same
            return error
        return read.packed() if isinstance(read, Written) else read


def _summary(outcome: Any) -> Any:
    """Return what the client needs to know of an outcome, without the content of a run."""
    if not isinstance(outcome, Packed):
        return outcome
    read = (outcome.checksums, outcome.sources, outcome.seconds)
    return Remote(*read, outcome.name, outcome.bytes)


def _failure(item: object, error: Exception) -> IngestError:
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return _DeathError(f"{item}: the worker that reads it ends each time; out of memory?")
    if isinstance(error, ModuleNotFoundError):
        return IngestError(f"{item}: the workers lack a package: {error}")
    return IngestError(f"{item}: {first_line(error)}")
