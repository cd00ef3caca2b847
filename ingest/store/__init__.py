"""The store: a directory of runs, which many processes can add to, remove from and read.

store.py          Store: adds, finds and removes runs
connection.py     connect: a DuckDB connection with all tables and views of a store
upkeep.py         editing labels, and rebuilding runs
workers.py        add_all and rebuild_all: work on several runs in processes
run_ids.py        ids of new runs, and finding a run by id, beginning of an id, or name

files/            what lies on the disk
    places.py         the paths of a store's files; modes.py their access modes
    locking.py        the store's lock, and directories for work in progress
    leases.py         leases of readers, so that no file is deleted too early
    listing.py        the file that names the runs
    revisions.py      the directories of the runs' files
    manifest.py       a run's manifest: its origin, versions and file checksums
    faults.py         detection and description of damaged runs
derived/          files that can be written again at any time
    index.py          one file with the columns that are needed from all runs
    indexing.py       writes it
    tables.py         queries for the tables of runs of any version
    catalog.py        the views, in a connection or in the store's catalog file
    catalog_file.py   the catalog file
    template.py       copies of empty tables and of the catalog from a cache
changes/          what the process that holds the lock does
    change.py         adding, replacing and removing a run
    inventory.py      finding the runs on the disk, where the listing is not current
    commits.py        replacing the listing, the index and the links
    deletion.py       deleting what nobody needs or reads any more
    creation.py       the files of a new store
reading/          what a statement reads while the store changes
    visible.py        the files of a transaction
    private.py        what a process keeps because the store cannot be written
    retry.py          retrying reads while other processes write

Import these modules directly. This package exports nothing, so that a process loads only the
modules that it needs.
"""
