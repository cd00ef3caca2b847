"""The command `ingest add`."""

from typing import Annotated

import typer

from ingest.cli.labels import Mode, tags_of
from ingest.cli.terminal import (
    ClusterOption,
    StoreOption,
    add_with_progress,
    check_workers,
    create_store,
    say_error,
)
from ingest.conversion import AddOptions
from ingest.errors import ProfileError
from ingest.formats import max_inflation, max_snapshot_bytes
from ingest.inputs import input_path, runs_at


def add(
    paths: Annotated[
        list[str],
        typer.Argument(help="Run directories or single files, also s3://BUCKET/KEY with * and ?."),
    ],
    store: StoreOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.")] = None,
    model: Annotated[str | None, typer.Option(help="Model that was profiled.")] = None,
    mode: Annotated[Mode | None, typer.Option(help="How the model was run.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag, KEY=VALUE. Repeatable.")] = None,
    capture_trace: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="A trace of captures of CUDA graphs. Repeatable."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Number of processes. Each adds one run at a time.")
    ] = 1,
    cluster: ClusterOption = None,
    keep_metadata: Annotated[
        bool, typer.Option("--keep-metadata", help="Keep values that look like secrets.")
    ] = False,
    redact_paths: Annotated[
        bool, typer.Option("--redact-paths", help="Make source paths relative.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Add profiles to the store. Each path becomes a run.

    Each directory below a path with torch.profiler traces for TensorBoard also becomes a run.

    Values that look like secrets are redacted, unless --keep-metadata is given. With
    --redact-paths, paths of source files become relative to their package or to the current
    directory.
    """
    check_workers(jobs, cluster)
    # Check these settings first: a wrong one would otherwise be reported for each path.
    max_inflation()
    max_snapshot_bytes()
    captures = [str(input_path(file).absolute()) for file in capture_trace or ()]
    options = AddOptions(
        name,
        model,
        mode and mode.value,
        tags_of(tag or []),
        keep_metadata,
        redact_paths,
        capture_traces=captures,
    )
    runs = []
    failed = False
    for path in paths:
        try:
            runs += runs_at(path)
        except ProfileError as error:
            say_error(error)
            failed = True
    if not runs:
        raise typer.Exit(1)
    if not add_with_progress(create_store(store), runs, options, jobs, cluster, as_json) or failed:
        raise typer.Exit(1)
