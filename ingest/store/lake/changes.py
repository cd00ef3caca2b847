"""Changes of runs in a lake: removal, and editing of labels. Each is one commit of `runs`."""

from collections.abc import Collection
from dataclasses import replace

from ingest import sql
from ingest.conversion import AddOptions
from ingest.store.labels import Relabelling
from ingest.store.lake.commits import Change, change_runs
from ingest.store.lake.head import Head
from ingest.store.lake.place import LakePlace
from ingest.store.lake.rewriting import manifest_of_run, with_columns, without_runs
from ingest.store.lake.schema import MANIFEST, OVERVIEW, RUNS


def remove(place: LakePlace, run_ids: Collection[str]) -> None:
    """Remove runs in one atomic step. Raise StoreError if one is not there.

    Their rows in other tables stay until the next compaction. Readers leave them out.
    """
    with place.reported("write"):
        change_runs(place, lambda head: without_runs(place, head, run_ids))


def edit(place: LakePlace, run_id: str, changes: AddOptions) -> None:
    """Change the labels of a run, as `Storage.edit` does."""

    def edited(head: Head) -> Change:
        manifest = manifest_of_run(place, head, run_id)
        relabelling = Relabelling(run_id, manifest.options, changes)
        kinds = sql.table_columns()
        overview = relabelling.expressions(kinds[OVERVIEW], "overview.").items()
        updates = ", ".join(f"{name} := {expression}" for name, expression in overview)
        columns = {
            **relabelling.expressions(kinds[RUNS]),
            OVERVIEW: f"list_transform({OVERVIEW}, lambda overview: "
            f"struct_update(overview, {updates}))",
            MANIFEST: sql.literal(replace(manifest, options=relabelling.options).as_json()),
        }
        return with_columns(place, head, run_id, columns)

    with place.reported("write"):
        change_runs(place, edited)
