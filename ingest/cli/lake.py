"""The commands for stores on object storage: push, pull, compact and vacuum."""

from typing import Annotated

import typer

from ingest.cli.terminal import StoreOption, open_directory, open_lake, results
from ingest.store.directory.store import Store
from ingest.store.place import default_store
from ingest.units import counted

UrlArgument = Annotated[
    str, typer.Argument(metavar="URL", help="s3://BUCKET/PREFIX or file:///DIR.")
]
RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[RUN]...", help="Full ids or names of runs. Default: all."),
]


def push(url: UrlArgument, runs: RunsArgument = None, store: StoreOption = None) -> None:
    """Copy runs to a store on object storage. The store is created if it does not exist.

    Runs that are there already are left out, so the same command continues after an interruption.
    Credentials come from the environment, as in other tools.
    """
    from ingest.store.lake.push import push as push_runs  # no other command needs it

    opened = open_directory(store)
    wanted = [opened.find_exactly(run) for run in runs or ()]
    pushed = 0
    for run_ids in push_runs(opened, url, wanted or opened.run_ids(), skips=not wanted):
        for run_id in run_ids:
            print(run_id)
        pushed += len(run_ids)
    results().print(f"{counted(pushed, 'run')} pushed to {url}", markup=False)


def pull(url: UrlArgument, runs: RunsArgument = None, store: StoreOption = None) -> None:
    """Copy runs from a store on object storage to a store in a directory, which is created.

    Runs that are there already are left out, so the same command continues after an interruption.
    """
    from ingest.store.lake.pull import pull as pull_runs

    lake = open_lake(url)
    target = Store(store or default_store())
    wanted = [lake.find_exactly(run) for run in runs or ()]
    pulled = 0
    for run_id in pull_runs(lake, target, wanted or lake.run_ids()):
        print(run_id)
        pulled += 1
    results().print(f"{counted(pulled, 'run')} pulled from {url}", markup=False)


def compact(store: StoreOption = None) -> None:
    """Merge the small files of a store on object storage, and drop the rows of removed runs.

    Others may read and change the store meanwhile. `add` and `push` compact a store with many small
    files by themselves.
    """
    from ingest.store.lake.compaction import compact as compact_tables

    done = False
    for table in compact_tables(open_lake(store).place):
        print(f"{table.table}: {counted(table.before, 'file')} merged to {table.after}")
        done = True
    if not done:
        print("nothing to compact")


def vacuum(
    days: Annotated[int, typer.Option(min=1, help="Days for which files are kept.")] = 7,
    store: StoreOption = None,
) -> None:
    """Delete files of a store on object storage that only versions of earlier days need.

    These are files that a compaction merged, and leftovers of processes that were killed.
    """
    from ingest.store.lake.vacuum import vacuum as vacuum_tables

    deleted = vacuum_tables(open_lake(store).place, days)
    print(f"{counted(deleted, 'file')} deleted")
