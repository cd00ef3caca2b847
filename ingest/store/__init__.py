"""The store: runs that many processes can add to, remove from and read.

storage.py        Storage: what every kind of store does
place.py          where a store is: a directory or a URL
opening.py        opening of the store at a place
connection.py     connect: a DuckDB connection with all tables and views of a store
each.py           one query for each run
labels.py         what an edit of labels changes
adding.py         conversion of the paths whose files a store does not have
known.py          whether a store may have the files of a path
written.py        a run that was written, before it is in a store
workers.py        processes of this machine that work on runs; cluster.py other machines
faults.py         why a run cannot be read
manifest.py       a run's manifest: its origin, versions and file checksums
run_ids.py        ids of new runs, and finding a run by id, beginning of an id, or name

directory/        Store: the runs in a directory
lake/             Lake: the runs at a URL

Import these modules directly. This package exports nothing, so that a process loads only the
modules that it needs.
"""
