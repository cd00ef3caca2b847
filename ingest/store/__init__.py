"""The store: a directory of runs, which many processes can add to, remove from and read.

store.py       Store: adds, finds and removes runs
creation.py    the files of a new store
connection.py  connect: a DuckDB connection with all tables and views of a store
places.py      the paths of a store's files
listing.py     the file that names the runs
inventory.py   finding the runs on the disk, where the listing is not current
commits.py     making a listing the store's, and what is derived from it
reading.py     the files that a transaction reads
leases.py      leases of readers, so that no file is deleted too early
manifest.py    a run's manifest: its origin, versions and file checksums
faults.py      detection and description of damaged runs
tables.py      queries for the tables of runs of any version
catalog.py     the views, in a connection or in the store's catalog file
index.py       one file with the columns that are needed from all runs; indexing.py writes it
locking.py     locks, and directories for work in progress
upkeep.py      editing labels, and rebuilding runs
references.py  ids of new runs, and finding a run by id, beginning of an id, or name
retry.py       retrying reads while other processes write
template.py    an empty store's tables and catalog, copied to new stores
workers.py     add_all and rebuild_all: work on several runs in processes

Import these modules directly. This package exports nothing, so that a process loads only the
modules that it needs.
"""
