"""`capture run` records the processes that a program starts."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.capture.captured import Captured, events
from tests.capture.processes import Finished, in_a_new_process

pytestmark = pytest.mark.usefixtures("capture_extra")

WORK = """
import os, sys, torch
model = torch.nn.Linear(4, 4)
def work(calls):
    for _ in range(calls): model(torch.ones(2, 4))
"""


def run(
    directory: Path,
    script: str,
    *command: str,
    options: Sequence[str] = (),
    run_python: Callable[..., Finished] = in_a_new_process,
    **environment: str,
) -> Finished:
    """Run `capture run` on a script mine.py, or on a command that starts it."""
    (directory / "mine.py").write_text(script)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    capture = ["-m", "capture", "run", "--out", "run", *options, "--", *(command or ["mine.py"])]
    given = {"PATH": path, "OMP_NUM_THREADS": "1"} | environment
    return run_python(*capture, cwd=directory, **given)


def linears(directory: Path) -> dict[tuple[int, str | None], int]:
    """Return the number of linear layers that each process ran, by rank and process name."""
    found = {}
    for file in directory.glob("rank*.json"):
        description = Captured.described(file)
        [trace] = directory.glob(f"*-{file.stem}.trace.json.gz")
        calls = [e for e in events(trace) if e["name"] == "aten::linear"]
        found[description["rank"], description.get("process")] = len(calls)
    return found


def test_processes_of_a_program_are_recorded(tmp_path):
    """Their ranks are in the order of their names."""
    script = WORK + (
        "import torch.multiprocessing as mp\n"
        "if __name__ == '__main__':\n"
        "    started = [('spawn', 2), ('fork', 3), ('forkserver', 5), ('fork', 6)]\n"
        "    processes = [mp.get_context(method).Process(target=work, args=(calls,))\n"
        "        for method, calls in started]\n"
        "    work(4)\n"
        "    for process in processes: process.start()\n"
        "    print('started')\n"  # Python waits for the processes to end
    )
    done = run(tmp_path, script)

    assert (done.returncode, done.stdout) == (0, "started\n"), done.stderr
    assert linears(tmp_path / "run") == {
        (0, None): 4,
        (1, "ForkProcess-2"): 3,
        (2, "ForkProcess-4"): 6,
        (3, "ForkServerProcess-3"): 5,
        (4, "SpawnProcess-1"): 2,
    }
    assert Captured.described(tmp_path / "run" / "run.json")["rank"] == 0
    forks = "1 (ForkProcess-2, 3 steps), 2 (ForkProcess-4, 6 steps)"
    others = "3 (ForkServerProcess-3, 5 steps), 4 (SpawnProcess-1, 2 steps)"
    assert f"ranks       0 (the program, 4 steps), {forks}, {others}" in done.stderr


@pytest.mark.parametrize(
    "start",
    [
        "process = os.fork() or (work(2), sys.exit())[0]; os.waitpid(process, 0)",
        "process = fork.Process(target=work, args=(2,)); process.start(); process.join()",
        "with ProcessPoolExecutor(1, fork) as pool: pool.submit(work, 2).result()",
    ],
)
def test_a_fork_that_imports_torch_itself_is_recorded(start, tmp_path):
    script = (
        "import multiprocessing, os, sys\nfrom concurrent.futures import ProcessPoolExecutor\n"
        "fork = multiprocessing.get_context('fork')\n"
        "def work(calls):\n"
        "    import torch\n    model = torch.nn.Linear(4, 4)\n"
        "    for _ in range(calls): model(torch.ones(2, 4))\n"
        f"{start}\nprint('torch' in sys.modules)\n"
    )
    done = run(tmp_path, script)

    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr
    assert list(linears(tmp_path / "run").values()) == [2]


def test_processes_with_a_rank_keep_it(with_torch, tmp_path):
    """A second job with the same ranks becomes a separate run."""
    script = WORK + (
        "import torch.multiprocessing as mp\n"
        "import torch.distributed as dist\n"
        "def rank(number, calls):\n"
        "    os.environ.update(RANK=str(1 - number), WORLD_SIZE='2')\n"
        "    work(calls + number)\n"
        "    if os.fork() == 0: work(9); sys.exit(0)\n"  # it inherits the RANK of its parent
        "    os.wait()\n"
        "def member(number, calls):\n"
        "    from torch.testing._internal.distributed.fake_pg import FakeStore\n"
        "    dist.init_process_group('fake', store=FakeStore(), rank=1 - number, world_size=2)\n"
        "    work(calls + number)\n"
        "    dist.destroy_process_group()\n"
        "if __name__ == '__main__':\n"
        "    work(7)\n"
        "    mp.spawn(rank, (2,), nprocs=2)\n"
        "    mp.start_processes(member, (5,), nprocs=2, start_method='fork')\n"
    )
    done = run(tmp_path, script, run_python=with_torch)

    assert done.returncode == 0, done.stderr
    first, second = linears(tmp_path / "run"), linears(tmp_path / "run-2")
    assert first.pop((2, None)) == 7
    forks = {(rank, name) for rank, name in first if rank > 2}
    assert [first.pop(fork) for fork in forks] == [9] * 2
    assert first == {(1, "SpawnProcess-1"): 2, (0, "SpawnProcess-2"): 3}
    assert second == {(1, "ForkProcess-3"): 5, (0, "ForkProcess-4"): 6}
    assert Captured.described(tmp_path / "run-2" / "run.json")["rank"] == 0


def test_a_python_process_is_recorded_or_reported(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("import builtins; builtins.mine = 'mine'")
    (tmp_path / "child.py").write_text(WORK + "work(3); print(mine); sys.exit(5)")
    script = (
        "import os, subprocess, sys\n"
        "print(subprocess.run([sys.executable, 'child.py']).returncode, flush=True)\n"
        "subprocess.run([sys.executable, '-I', '-c', 'pass'])\n"
        "subprocess.run([sys.executable, '-c', 'pass'], env={})\n"
        "os.environ['PYTHONPATH'] = 'mine'; subprocess.run([sys.executable, '-c', 'pass'])\n"
        "print('torch' in sys.modules)\n"
    )
    done = run(tmp_path, script, PYTHONPATH=str(tmp_path / "mine"))

    assert (done.returncode, done.stdout) == (0, "mine\n5\nFalse\n"), done.stderr
    assert linears(tmp_path / "run") == {(0, "child.py"): 3}
    assert "not recorded: -I makes Python ignore PYTHONPATH" in done.stderr
    assert "not recorded: its environment lacks TRACEHOUSE_CAPTURE" in done.stderr
    assert "not recorded: its PYTHONPATH lacks" in done.stderr


@pytest.mark.parametrize(
    ("command", "calls"),
    [
        (["torchrun", "--standalone", "--nproc-per-node", "2", "mine.py"], {0: 3, 1: 3}),
        (["python", "-B", "mine.py"], {0: 3}),
        (["bash", "-c", "python mine.py"], {0: 3}),
    ],
    ids=lambda command: command[0] if isinstance(command, list) else "",
)
def test_a_launcher_runs_as_typed(command, calls, tmp_path):
    done = run(tmp_path, WORK + "work(3); sys.exit(0)", *command)

    assert done.returncode == 0, done.stderr
    assert {rank: n for (rank, _), n in linears(tmp_path / "run").items()} == calls


def test_a_process_that_records_at_its_import_writes_its_files(with_torch, tmp_path):
    """Multiprocessing completes the setup of a process only after that import."""
    script = (
        "import torch.multiprocessing as mp\n"
        + WORK
        + (
            "if __name__ != '__main__': work(3)\n"
            "def nothing(): pass\n"
            "if __name__ == '__main__':\n"
            "    for method in ('spawn', 'forkserver'):\n"
            "        process = mp.get_context(method).Process(target=nothing)\n"
            "        process.start(); process.join(); print(process.exitcode)\n"
        )
    )
    done = run(tmp_path, script, run_python=with_torch)

    assert (done.returncode, done.stdout) == (0, "0\n0\n"), done.stderr
    assert sorted(linears(tmp_path / "run").values()) == [3, 3]


def test_a_program_can_run_capture_itself(with_torch, tmp_path):
    (tmp_path / "inner.py").write_text(WORK + "work(3)")
    script = WORK + (
        "import subprocess\nwork(2)\n"
        "inner = [sys.executable, '-m', 'capture', 'run', '--out', 'inner', 'inner.py']\n"
        "print(subprocess.run(inner).returncode)\n"
    )
    done = run(tmp_path, script, run_python=with_torch)

    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert linears(tmp_path / "run") == {(0, None): 2}
    assert linears(tmp_path / "inner") == {(0, None): 3}


def test_torch_may_be_imported_on_another_thread(tmp_path):
    code = "import threading; t = threading.Thread(target=__import__, args=('torch',))\n"
    code += "t.start(); t.join(); import torch; torch.nn.Linear(2, 2)(torch.ones(2))"
    script = f"import subprocess, sys\nprint(subprocess.call([sys.executable, '-c', {code!r}]))"
    (tmp_path / "mine.py").write_text(script)
    done = run(tmp_path, script, options=["--from-start"])

    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert linears(tmp_path / "run") == {(0, "python"): 1}


def test_a_process_starts_under_a_long_command_line(tmp_path):
    script = "import subprocess; print(subprocess.call(['true']))"
    done = run(tmp_path, script, "mine.py", *["word"] * 40_000)

    assert done.stdout == "0\n", done.stderr


def test_signals_are_passed_on_to_a_command(tmp_path):
    script = (
        "import os, re, signal, time\n"
        "def passes_on():\n"
        "    status = open(f'/proc/{os.getppid()}/status').read()\n"
        "    handled = int(re.search(r'SigCgt:\\s*(\\w+)', status)[1], 16)\n"
        "    return handled >> (signal.SIGUSR2 - 1) & 1\n"  # this handler is the last one
        "while not passes_on(): time.sleep(0.01)\n"
        "try: os.kill(os.getppid(), signal.SIGINT); time.sleep(600)\n"
        "except KeyboardInterrupt: print('stopped'); raise SystemExit(3)\n"
    )
    done = run(tmp_path, script, "python", "-B", "mine.py")

    assert (done.returncode, done.stdout) == (3, "stopped\n")


def test_the_exit_code_of_a_command_is_kept(tmp_path):
    done = run(tmp_path, "", "bash", "-c", "echo mine; exit 7")

    assert (done.returncode, done.stdout) == (7, "mine\n")


def test_killed_processes_leave_the_files_that_they_can(with_torch, tmp_path):
    """One process ends by SIGTERM and one by SIGKILL. DataLoader workers are not recorded."""
    script = WORK + (
        "import time, torch.multiprocessing as mp\n"
        "class Data(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 2\n"
        "    def __getitem__(self, n): return model(torch.ones(4)).detach()\n"
        "def waits(queue):\n"
        "    work(2); queue.put(1); time.sleep(600)\n"
        "def leaves(queue):\n"
        "    work(2); queue.put(1); queue.close(); queue.join_thread(); os.kill(os.getpid(), 9)\n"
        "if __name__ == '__main__':\n"
        "    context = mp.get_context('fork')\n"
        "    queue = context.Queue()\n"
        "    waiting, leaving = (context.Process(target=work, args=(queue,))\n"
        "        for work in (waits, leaves))\n"
        "    waiting.start(); leaving.start()\n"
        "    queue.get(); queue.get()\n"
        "    waiting.terminate(); waiting.join(); leaving.join()\n"
        "    print(waiting.exitcode, leaving.exitcode)\n"
        "    print(len(list(torch.utils.data.DataLoader(Data(), num_workers=1))))\n"
    )
    done = run(tmp_path, script, run_python=with_torch)

    assert (done.returncode, done.stdout) == (0, "-15 -9\n2\n"), done.stderr
    assert linears(tmp_path / "run") == {(0, "ForkProcess-1"): 2}
    assert done.stderr.count("ended before it wrote its files") == 1
