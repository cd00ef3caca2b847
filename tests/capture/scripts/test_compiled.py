"""Programs that compile, under `capture run`: their compilations are unchanged and reported."""

import re

import pytest

import ingest
from tests.capture.captured import Captured

pytestmark = pytest.mark.usefixtures("capture_extra")

SCRIPT = """
import torch, capture

@torch.compile(backend="eager")
def compiled(x):
    y = x.sin() + 1
    torch._dynamo.graph_break()
    return y.cos()

compiled(torch.ones(4))
with capture.Profiler(output_dir="run", with_stack=False):
    compiled(torch.ones(5))
"""


def test_a_script_that_imported_torch_earlier_has_no_compile_log(with_torch, tmp_path):
    (tmp_path / "earlier.py").write_text(SCRIPT)
    done = with_torch("earlier.py", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "TORCH_TRACE was not set" in done.stderr
    run = Captured.read(tmp_path / "run").run
    assert "TORCH_TRACE" in run["missing"]["compile_log"]
    compilation = run["compilation"]
    assert sum(broken["count"] for broken in compilation["graph_breaks"]) >= 1
    assert compilation["compiled_in_measured_run"] >= 1


MODEL = """
import torch
torch._logging.set_logs(guards=True)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 8), torch.nn.Sequential(torch.nn.Linear(8, 8))
    def forward(self, x):
        return self.second(self.first(x))
model = Model()
aot = {"backend": "aot_eager"}
"""
REPORT = """
from torch._dynamo.utils import counters, get_compilation_metrics
print({key: dict(counters[key]) for key in ("frames", "stats", "graph_break", "unimplemented")})
for did in get_compilation_metrics():
    print(did.compile_id, did.co_name, did.guard_count, did.graph_op_count, did.recompile_reason)
"""
COMPILED = {
    "module": "compiled = torch.compile(model, fullgraph=True, **aot)\n"
    "for rows in (2, 2, 3, 3): compiled(torch.ones(rows, 8))",
    "call": "compiled = torch.compile(model.__call__, fullgraph=True, **aot)\n"
    "for rows in (2, 2, 3, 3): compiled(torch.ones(rows, 8))",
    "function": "compiled = torch.compile(lambda x: model(x).relu(), **aot)\n"
    "for rows in (2, 2, 3, 3): compiled(torch.ones(rows, 8))",
    "optimizer": "model.second.compile(**aot)\nadam = torch.optim.Adam(model.parameters())\n"
    "step = torch.compile(lambda: adam.step(), **aot)\n"
    "for _ in range(3): model(torch.ones(2, 8)).sum().backward(); step()",
}


@pytest.mark.parametrize(
    ("program", "steps"), [("module", 4), ("call", 4), ("function", 0), ("optimizer", 0)]
)
def test_capture_does_not_change_compilations(program, steps, with_torch, tmp_path):
    (tmp_path / "mine.py").write_text(MODEL + COMPILED[program] + REPORT)
    capture = ("-m", "capture", "run", "--profile-active", "2", "--out", "run", "--")
    plain, done = (with_torch(*words, "mine.py", cwd=tmp_path) for words in ((), capture))

    assert (plain.returncode, done.returncode) == (0, 0), done.stderr
    assert done.stdout == plain.stdout
    assert guards(done.stderr) == guards(plain.stderr)
    run = Captured.read(tmp_path / "run").run
    assert run["mode"] == "compiled"
    assert len(run["profiled_step_times_ns"]) == steps


def guards(log: str) -> list[str]:
    """Return the guards that torch logged, without addresses and times."""
    found = re.findall(r"\[__guards\] (.*)", log)
    assert found
    return [re.sub(r"0x[0-9a-f]+|\d{9,}|[\d.]+ us", "…", line) for line in found]


def test_a_compilation_in_a_wait_step_is_not_measured(with_torch, store, tmp_path):
    script = tmp_path / "waits.py"
    script.write_text(
        "import torch\nmodel = torch.compile(torch.nn.Linear(4, 4), backend='aot_eager')\n"
        "for _ in range(4): model(torch.ones(2, 4))"
    )
    schedule = ["--profile-wait", "1", "--profile-warmup", "0", "--profile-active", "2"]
    done = with_torch(
        *("-m", "capture", "run", *schedule, "--out", "run", "--", str(script)), cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    captured = Captured.read(tmp_path / "run")
    assert captured.steps == ["ProfilerStep#1", "ProfilerStep#2"]
    [compilation] = captured.run["compilation"]["compilations"]
    store.add(tmp_path / "run")
    with ingest.connect(store.path) as connection:
        rows = connection.sql("SELECT is_in_measured_step FROM compilations").fetchall()
    assert (compilation["in_measured_run"], rows) == (False, [(False,)])
