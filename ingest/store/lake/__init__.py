"""The lake: runs of many machines as Delta tables on object storage.

    <lake>/<table>/_delta_log/    the commits of a table
    <lake>/<table>/added_on=<day>/<batch>-<digest>.parquet  the rows of a batch, sorted by run
    <lake>/<table>/added_on=<day>/merged-<id>-<digest>.parquet  the rows of several batches

The digest of a file is the beginning of its SHA-256, so it is known whether the file is intact.

Each stored table is one Delta table. A commit of `runs` decides what readers see:

- Its rows name the runs, and the batch with the rows of each in other tables. A process adds a
  batch to the other tables first, and to `runs` last.
- It says which version of each other table readers open, and which runs were removed whose rows are
  still there.

So each addition, edit, removal and rebuild is one commit. A reader sees each run whole or not at
all, and a process that was killed leaves only files that nobody reads. Compaction merges files and
drops what nobody needs.

lake.py           Lake: finds and reads runs
place.py          the lake's files, and how libraries open them
remote.py         object storage by the scheme of the URL; answers.py its errors
snapshot.py       what one version of a lake contains; catalog.py its views
schema.py         the columns of its tables
head.py           the files of a version, and what its commit says of them
commits.py        commits of Delta tables
rewriting.py      changes of rows of `runs`
changes.py        removal of runs, and editing of labels
batch.py          adding runs in batches; uploads.py their files
intact.py         whether a file is as it was written
adding.py, push.py, pull.py    from files, from a directory, and to one
compaction.py, vacuum.py, checking.py    upkeep
"""
