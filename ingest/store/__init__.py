"""The store: a directory of runs, which many processes can add to, remove from and read.

store.py         Store: adds, finds and removes runs
connection.py    connect: a DuckDB connection with all tables and views of a store
upkeep.py        editing labels, and rebuilding runs
workers.py       add_all and rebuild_all: work on several runs in processes

places.py        the paths of a store's files
creation.py      the files of a new store; template.py copies them from a cache
locking.py       the store's lock, and directories for work in progress
listing.py       the file that names the runs
revisions.py     the directories of the runs' files
inventory.py     finding the runs on the disk, where the listing is not current
changes.py       adding, replacing and removing a run
commits.py       replacing the listing, and what is derived from it
modes.py         access modes of files that users share
leases.py        leases of readers, so that no file is deleted too early
visible.py       the files that a transaction reads
private.py       what a process keeps because the store cannot be written

manifest.py      a run's manifest: its origin, versions and file checksums
faults.py        detection and description of damaged runs
references.py    ids of new runs, and finding a run by id, beginning of an id, or name
tables.py        queries for the tables of runs of any version
catalog.py       the views, in a connection or in the store's catalog file
catalog_file.py  the catalog file
index.py         one file with the columns that are needed from all runs; indexing.py writes it
retry.py         retrying reads while other processes write

Import these modules directly. This package exports nothing, so that a process loads only the
modules that it needs.
"""
