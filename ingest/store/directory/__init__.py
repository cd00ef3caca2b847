"""The runs in a directory.

store.py          Store: finds, adds and removes runs
adding.py, edits.py, rebuilding.py    changes of runs
refreshing.py     finding the runs, and updating what is derived from them
views.py          all tables and views in a connection
answering.py      answers although a run is damaged or removed meanwhile

files/            what lies on the disk
    places.py         the paths of a store's files; modes.py their access modes
    locking.py        the store's lock, and directories for work in progress
    leases.py         leases of readers, so that no file is deleted too early
    listing.py        the file that names the runs
    revisions.py      the directories of the runs' files; aside.py those that were moved aside
    detection.py      detection of damaged runs
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
"""
