"""The lake: runs of many machines as Delta tables on object storage.

    <lake>/<table>/_delta_log/                          the commits of a table
    <lake>/<table>/added_on=<day>/<batch>.parquet       the rows of a batch of runs, sorted by run

Each stored table of a run is one Delta table, and so is the index. `runs` is committed last: a
batch is in the lake if `runs` has its file. The commit of `runs` says which version of each other
table readers see. So a reader sees each run whole or not at all, and a process that was killed
leaves only files that nobody reads.
"""
