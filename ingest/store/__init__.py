"""The store: a directory of runs that many processes add to, remove from and read.

store.py       Store: adds, finds and removes runs
connection.py  connect: a DuckDB connection with all tables and views of a store
catalog.py     the views, in a connection or in the store's catalog file
retry.py       retry_if_removed: reading while others write
workers.py     add_all: adding several runs in processes

Other rooms import these modules, and nothing is exported here: a process that needs one of them
does not load the others.
"""
