"""The commands that maintain a store: edit, remove, upgrade and check."""

from typing import Annotated

import typer

from ingest.cli.labels import Mode, tags_of
from ingest.cli.terminal import (
    ClusterOption,
    StoreOption,
    check_workers,
    open_store,
    rebuild_with_progress,
    results,
)
from ingest.conversion import AddOptions
from ingest.errors import StoreError
from ingest.store.faults import DENIED, OLD
from ingest.units import counted

RunsArgument = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Full ids or names of runs.")
]
JobsOption = Annotated[
    int, typer.Option(min=1, help="Number of processes. Each builds one run at a time.")
]


def edit(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Ids, beginnings of ids, or names of runs."),
    ],
    name: Annotated[str | None, typer.Option(help="New name. The id does not change.")] = None,
    model: Annotated[str | None, typer.Option(help="Model that was profiled.")] = None,
    mode: Annotated[Mode | None, typer.Option(help="How the model was run.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag, KEY=VALUE. Repeatable.")] = None,
    untag: Annotated[
        list[str] | None, typer.Option(help="Key of a tag to remove. Repeatable.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="A note about the run.")] = None,
    store: StoreOption = None,
) -> None:
    """Change the labels of runs. An empty --model or --note removes that label."""
    tags = {**tags_of(tag or []), **dict.fromkeys(untag or [])}
    changes = AddOptions(name, model, mode and mode.value, tags, note=note)
    if changes == AddOptions():
        raise typer.BadParameter(
            "nothing to change; give --name, --model, --mode, --tag, --untag or --note"
        )
    opened = open_store(store)
    for run_id in dict.fromkeys(opened.find(run) for run in runs):
        opened.edit(run_id, changes)
        results().print(f"changed {run_id}", markup=False)


def remove(runs: RunsArgument, store: StoreOption = None) -> None:
    """Remove runs from the store. Each run disappears in one atomic step."""
    opened = open_store(store)
    run_ids = list(dict.fromkeys(opened.find_exactly(run) for run in runs))
    opened.remove(*run_ids)
    for run_id in run_ids:
        results().print(f"removed {run_id}", markup=False)


def upgrade(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN...]", help="Full ids or names of runs. Default: all old runs."
        ),
    ] = None,
    jobs: JobsOption = 1,
    cluster: ClusterOption = None,
    store: StoreOption = None,
) -> None:
    """Rebuild runs that another version of tracehouse wrote, from their original files."""
    check_workers(jobs, cluster)
    opened = open_store(store)
    old = opened.outdated()
    chosen = [opened.find_exactly(run) for run in runs] if runs else old
    for run_id in chosen:
        if run_id not in old:
            results().print(f"up to date: {run_id}", markup=False)
    if not chosen:
        results().print("all runs are up to date")
    failed = rebuild_with_progress(
        opened, [run_id for run_id in chosen if run_id in old], jobs, cluster
    )
    if failed:
        raise StoreError(f"could not rebuild {counted(len(failed), 'run')}; the old version stays")


def check(
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild damaged runs from their original files.")
    ] = False,
    discard: Annotated[
        bool,
        typer.Option(
            "--remove", help="Remove damaged runs; with --repair, only those it cannot rebuild."
        ),
    ] = False,
    jobs: JobsOption = 1,
    cluster: ClusterOption = None,
    store: StoreOption = None,
) -> None:
    """Read all files of all runs in the store, and list the damaged runs."""
    check_workers(jobs, cluster)
    opened = open_store(store)
    opened.check(repair)
    run_ids = opened.run_ids()
    damaged = [i for i, fault in opened.faults().items() if fault.code not in (OLD, DENIED)]
    denied = [i for i, fault in opened.faults().items() if fault.code == DENIED]
    results().print(f"{counted(len(run_ids) - len(opened.faults()), 'run')} intact")
    for run_id, fault in opened.faults().items():
        text = fault.reason if repair and run_id in damaged else fault.text
        results().print(f"{run_id}: {text}", markup=False)
    left = damaged
    if repair:
        left = rebuild_with_progress(opened, damaged, jobs, cluster)
    if discard:
        opened.remove(*left)
        for run_id in left:
            results().print(f"removed {run_id}", markup=False)
        left = []
    if left or denied:
        raise typer.Exit(1)
