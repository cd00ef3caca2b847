"""Labels of runs that a user can change: name, model, mode, note and tags."""

from collections.abc import Collection
from dataclasses import replace

from ingest import sql
from ingest.conversion import AddOptions
from ingest.errors import StoreError

LABELS = ("name", "model", "mode", "note")


class Relabelling:
    """A change of the labels of a run that was added with the options `before`.

    `changes` are the new labels. An empty model, mode or note removes that label, and a tag that is
    None removes the tag. Secrets are redacted. The constructor raises StoreError if the name would
    be empty.
    """

    def __init__(self, run_id: str, before: AddOptions, changes: AddOptions) -> None:
        if changes.name == "":
            raise StoreError(f"{run_id}: a run's name cannot be empty")
        changes = replace(changes, keep_metadata=before.keep_metadata).without_secrets()
        values = {name: getattr(changes, name) for name in LABELS}
        self.labels = {name: value for name, value in values.items() if value is not None}
        self.tags = changes.tags
        self.options = replace(before, **self.labels, tags=before.tags | self.tags)

    def expressions(self, columns: Collection[str], row: str = "") -> dict[str, str]:
        """Return the new values of those labels that are `columns`, as SQL.

        `row` is a prefix of the column `tags`, such as `row.`.
        """
        changed = {
            name: f"nullif({sql.literal(value)}, '')"
            for name, value in self.labels.items()
            if name in columns
        }
        keys, values = list(self.tags), list(self.tags.values())
        tags = f"map({sql.literal(keys)}::VARCHAR[], {sql.literal(values)}::VARCHAR[])"
        kept = f"map_entries(map_concat({row}tags, {tags}))"
        return changed | {
            "tags": f"map_from_entries(list_filter({kept}, lambda tag: tag.value IS NOT NULL))"
        }
