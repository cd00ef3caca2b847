"""The store: a directory of runs that many processes add to, remove from and read.

store.py       Store: adds, finds and removes runs
connection.py  connect: a DuckDB connection with all tables and views of a store
places.py      where the runs lie
manifest.py    what wrote a run, from what, and the checksums of its files
faults.py      what is wrong with a run
tables.py      the tables of runs, whichever version wrote them
catalog.py     the views over them, in a connection or in the store's catalog file
index.py       one file with what is asked of all runs; indexing.py writes it
template.py    an empty store's tables and catalog, to copy new ones from
workers.py     add_all: adding several runs in processes

Other rooms import these modules, and nothing is exported here: a process that needs one of them
does not load the others.
"""
