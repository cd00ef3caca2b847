"""The command `ingest push`."""

from typing import Annotated

import typer

from ingest.cli.terminal import StoreOption, open_directory, results
from ingest.units import counted


def push(
    url: Annotated[str, typer.Argument(metavar="URL", help="s3://BUCKET/PREFIX or file:///DIR.")],
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]...", help="Full ids or names of runs. Default: all."),
    ] = None,
    store: StoreOption = None,
) -> None:
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
