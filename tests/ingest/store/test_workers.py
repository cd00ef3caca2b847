"""Work in worker processes, which are forks of a process that has other libraries' objects."""

import subprocess
import sys

# DuckDB's database waits for its threads when it is freed. A worker has none of them, but a new
# thread may have the memory of an old one.
PROGRAM = """
import gc, threading, duckdb
from ingest.store.workers import in_processes

gc.disable()
for _ in range(3):
    cycle = [duckdb.connect(config={"threads": 4})]
    cycle.append(cycle)
    cycle[0].sql("SELECT sum(range) FROM range(1000000)").fetchall()
del cycle

def work(item, threads, report):
    collecting = [threading.Thread(target=gc.collect) for _ in range(6)]
    for thread in collecting:
        thread.start()
    for thread in collecting:
        thread.join()
    return item

print(sorted(in_processes(["a", "b", "c"], work, 2)))
"""


def test_workers_leave_the_objects_of_their_parent_alone() -> None:
    command = (sys.executable, "-c", PROGRAM)
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout == "[('a', 'a'), ('b', 'b'), ('c', 'c')]\n"
