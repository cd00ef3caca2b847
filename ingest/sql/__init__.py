"""The SQL: tables of a run, views and macros over them, by topic; and what reads their files.

<topic>/staged/    tables that the readers of files fill
<topic>/load/      relations on the way from events as recorded to tables
<topic>/tables/    tables that the store keeps for each run
<topic>/views/     views, and macros, which are views with parameters
<topic>/queries/   statements with parameters that Python runs
"""

from ingest.sql.loader import (
    SqlFile,
    definitions,
    macros,
    quoted,
    script,
    scripts,
    tables,
    views,
)

__all__ = ["SqlFile", "definitions", "macros", "quoted", "script", "scripts", "tables", "views"]
