"""The store: runs that many processes can add to, remove from and read.

store.py          Store: a directory of runs
place.py          where a store is: a directory or a URL
connection.py     connect: a DuckDB connection with all tables and views of a store
upkeep.py         editing labels, and rebuilding runs
adding.py         add_all and rebuild_all: work on several runs in processes
workers.py        the processes
labels.py         what an edit of labels changes
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
    written.py        a run that was written, before it is in a store
reading/          what a statement reads while the store changes
    visible.py        the files of a transaction
    private.py        what a process keeps because the store cannot be written
    retry.py          retrying reads while other processes write

lake/             Lake: the runs at a URL
    place.py          its files, and how libraries open them
    schema.py         the columns of its tables
    commits.py        commits of Delta tables, and what a commit of `runs` says
    rewriting.py      changes of rows of `runs`
    changes.py        removal of runs, and editing of labels
    batch.py          adding runs in batches; uploads.py their files
    adding.py, push.py, pull.py    from files, from a directory, and to one
    compaction.py, vacuum.py, checking.py    upkeep
    lake.py           Lake: finds and reads runs; catalog.py the views

Import these modules directly. This package exports nothing, so that a process loads only the
modules that it needs.
"""
