"""The commands that keep a store: labels, old runs, damaged runs, and runs to be removed."""

from typing import Annotated

import typer

from ingest.cli.labels import Mode, tags_of
from ingest.errors import StoreError
from ingest.pipeline import AddOptions
from ingest.store.faults import OLD
from ingest.store.upkeep import edit as edit_labels
from ingest.store.upkeep import outdated
from ingest.terminal import StoreOption, open_store, rebuild_with_progress, results
from ingest.units import counted

RunsArgument = Annotated[
    list[str], typer.Argument(metavar="RUN...", help="Whole ids of runs, or their names.")
]
JobsOption = Annotated[int, typer.Option(min=1, help="Processes that share the runs.")]


def edit(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Ids, their beginnings, or names.")
    ],
    name: Annotated[str | None, typer.Option(help="Name of the run; its id stays.")] = None,
    model: Annotated[str | None, typer.Option(help="Model that was profiled.")] = None,
    mode: Annotated[Mode | None, typer.Option(help="How the model was run.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="K=V; repeatable.")] = None,
    untag: Annotated[list[str] | None, typer.Option(help="K, to take away; repeatable.")] = None,
    note: Annotated[str | None, typer.Option(help="Your own words about the run.")] = None,
    store: StoreOption = None,
) -> None:
    """Change the labels of runs. An empty text takes a model or a note away."""
    tags = {**tags_of(tag or []), **dict.fromkeys(untag or [])}
    changes = AddOptions(name, model, mode and mode.value, tags, note=note)
    if changes == AddOptions():
        raise typer.BadParameter("no change: give a name, model, mode, note or tag")
    opened = open_store(store)
    for run_id in dict.fromkeys(opened.find(run) for run in runs):
        edit_labels(opened, run_id, changes)
        results().print(f"changed {run_id}", markup=False)


def remove(runs: RunsArgument, store: StoreOption = None) -> None:
    """Remove runs from the store, each whole and at once."""
    opened = open_store(store)
    for run_id in dict.fromkeys(opened.find_exactly(run) for run in runs):
        opened.remove(run_id)
        results().print(f"removed {run_id}", markup=False)


def upgrade(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN...]", help="Runs; else all that are old.")
    ] = None,
    jobs: JobsOption = 1,
    store: StoreOption = None,
) -> None:
    """Build runs of other versions of tracehouse again from their files."""
    opened = open_store(store)
    old = outdated(opened)
    asked = [opened.find_exactly(run) for run in runs] if runs else old
    for run_id in asked:
        if run_id not in old:
            results().print(f"up to date: {run_id}", markup=False)
    if not asked:
        results().print("all runs are up to date")
    failed = rebuild_with_progress(opened, [run_id for run_id in asked if run_id in old], jobs)
    if failed:
        raise StoreError(f"{counted(len(failed), 'run')} could not be built again; they are kept")


def check(
    repair: Annotated[
        bool, typer.Option("--repair", help="Build damaged runs again from their files.")
    ] = False,
    discard: Annotated[
        bool, typer.Option("--remove", help="Remove damaged runs that cannot be built again.")
    ] = False,
    jobs: JobsOption = 1,
    store: StoreOption = None,
) -> None:
    """Read all files of all runs, and say which runs are damaged."""
    opened = open_store(store)
    run_ids = opened.run_ids()
    opened.refresh(suspects=run_ids)
    damaged = {i: fault for i, fault in opened.faults().items() if fault.code != OLD}
    results().print(f"{counted(len(run_ids) - len(opened.faults()), 'run')} intact")
    for run_id, fault in opened.faults().items():
        results().print(f"{run_id}: {fault.text}", markup=False)
    left = list(damaged)
    if repair:
        left = rebuild_with_progress(opened, left, jobs)
    if discard:
        for run_id in left:
            opened.remove(run_id)
            results().print(f"removed {run_id}", markup=False)
        left = []
    if left:
        raise typer.Exit(1)
