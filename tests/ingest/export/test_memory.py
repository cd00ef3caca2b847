"""`ingest export` of memory: self-contained files, compared with the output of torch's script."""

import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page
from torch.cuda import _memory_viz

import ingest
from tests.builders.snapshots import MIB, snapshot, stack
from tests.helpers.command import Command

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = ("--memory-svg", "--segments-svg", "--memory-html")
HARMFUL = (
    "<script>window.harmed = 1</script>",
    "</title></script><img src=x onerror='window.harmed = 1'>",
    "]]></script><script>window.harmed = 1",
    "\u202e&amp;\x00\x1b[2J{{script}}",
)


@pytest.fixture
def default_store(memory_store: Path) -> Path:
    """The store that `command` uses."""
    return memory_store


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Page]:
    """A browser page without network. A script error in it fails the test."""
    context = chromium.new_context(viewport={"width": 1300, "height": 1600})
    context.set_offline(True)
    page = context.new_page()
    errors: list[str] = []
    requested: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    page.on("request", lambda request: requested.append(request.url))
    yield page
    context.close()
    assert errors == []
    assert len(requested) == 1  # the file


def frames_of(svg: Path) -> list[tuple[str, int, int, float, float]]:
    """Return the rectangles: name, depth, bytes, left edge and width in px."""
    found = []
    for group in ElementTree.parse(svg).getroot().iter(f"{SVG}g"):
        title, rect = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert rect is not None
        assert title.text
        name, _, _ = title.text.rpartition("\n")
        x, width = float(rect.get("x", "")), float(rect.get("width", ""))
        found.append((name, int(group.get("data-d", "")), int(group.get("data-w", "")), x, width))
    return found


def inactive_as_one(lines: Counter[str]) -> Counter[str]:
    made: Counter[str] = Counter()
    for name, held in lines.items():
        made[re.sub(r";inactive;.*", ";inactive", name)] += held
    return made


@pytest.mark.parametrize("graph", ["memory", "segments"])
def test_the_stacks_equal_torchs(memory_store: Path, samples: Path, graph: str) -> None:
    compared = 0
    with ingest.connect(memory_store) as connection:
        for path in sorted((samples / "snapshots").glob("*.pickle")):
            recorded = pickle.loads(path.read_bytes())
            recorded = {"segments": recorded} if isinstance(recorded, list) else recorded
            for block in (block for part in recorded["segments"] for block in part["blocks"]):
                # an inactive block has the size of its last request, when it may have been larger
                block["requested_size"] = min(block["requested_size"], block["size"])
            wanted: Counter[str] = Counter()
            for line in getattr(_memory_viz, graph)(recorded, lambda lines: lines).splitlines():
                name, held = line.rsplit(" ", 1)
                # torch removes directories from file names only if they are separated by `/`
                wanted[re.sub(r"(?<=;)[A-Z]:\\[^;]*\\", "", name)] += int(held)
            rows = connection.execute(
                """
                SELECT array_to_string(frames, ';'), sum(bytes)::BIGINT FROM memory_flames
                WHERE run_id LIKE $1 || '-%' AND flame_graph = $2 GROUP BY ALL
                """,
                [path.stem, graph],
            ).fetchall()
            got = Counter(dict(rows))
            assert got.total() == wanted.total()
            assert min(got.values()) > 0
            if path.stem == "torch20_block_history":
                # torch shows the complete history of this snapshot's inactive blocks
                got, wanted = inactive_as_one(got), inactive_as_one(wanted)
            assert got == +wanted
            compared += 1
    assert compared == 10


def test_a_flame_graph_is_to_scale(command: Command, samples: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.svg"
    done = command("export", "train_ctx512", "--memory-svg", file)
    assert (done.code, done.out, done.err) == (0, f"wrote {file}\n", "")
    frames = frames_of(file)
    assert frames[0] == ("all", 0, 12_660_506_624, 10.0, 1180.0)
    for _, depth, held, x, width in frames:
        assert width == pytest.approx(1180 * held / 12_660_506_624, abs=0.01)
        if depth:
            assert any(
                outer[1] == depth - 1 and outer[3] - 0.02 <= x <= outer[3] + outer[4] + 0.02
                for outer in frames
            )
    recorded = pickle.loads((samples / "snapshots" / "train_ctx512.pickle").read_bytes())
    stepped = sum(
        block["requested_size"]
        for segment in recorded["segments"]
        for block in segment["blocks"]
        if block["state"] == "active_allocated"
        and any(f["name"] == "step" and f["line"] == 76 for f in block["frames"])
    )
    [width] = [frame[2] for frame in frames if frame[0] == "optimizer.py:76:step"]
    assert width == stepped > 10**9


def test_a_flame_graph_can_be_zoomed_and_searched(
    command: Command, tmp_path: Path, tab: Page
) -> None:
    file = tmp_path / "memory.svg"
    command("export", "train_ctx512", "--memory-svg", file)
    tab.goto(file.as_uri())
    frame = tab.locator("g.frame", has_text="optimizer.py:76:step").first
    before = frame.locator("rect").bounding_box()
    frame.click()
    after = frame.locator("rect").bounding_box()
    assert before
    assert after
    assert after["width"] == pytest.approx(1180, abs=1.5)
    assert before["width"] < 200
    assert tab.locator("g.frame.hidden").count() > 10
    tab.locator("g.frame").first.click()
    assert tab.locator("g.frame.hidden").count() == 0
    tab.once("dialog", lambda dialog: dialog.accept("OPTIMIZER.PY:7"))
    tab.locator("#search").click()
    status = tab.locator("#status").text_content()
    assert status
    assert re.search(r"“OPTIMIZER.PY:7”: \d+ found, 3,385,\d+,\d+ bytes, 26.7\d%", status)


def test_a_file_contains_all_devices(
    command: Command, add_snapshot: Callable[..., Path], tmp_path: Path, tab: Page
) -> None:
    store = add_snapshot(
        [{"action": "alloc", "addr": 0, "size": MIB, "frames": stack("first")}],
        [{"action": "alloc", "addr": 0, "size": 2 * MIB, "frames": stack("second")}],
    )
    svg, page = tmp_path / "all.svg", tmp_path / "all.html"
    command("export", "built", "--segments-svg", svg, store=store)
    shown = {(name, depth): held for name, depth, held, _, _ in frames_of(svg)}
    assert shown["all", 0] == 2 << 30
    assert (
        shown["built.pickle rank 0 cuda:0", 1] == shown["built.pickle rank 0 cuda:1", 1] == 1 << 30
    )
    assert shown["model.py:7:first", 5] == MIB
    assert shown["model.py:7:second", 5] == 2 * MIB
    command("export", "built", "--memory-html", page, store=store)
    tab.goto(page.as_uri())
    assert tab.get_by_text("model.py:7 first").count() > 0
    tab.get_by_label("Device").select_option(label="rank 0 cuda:1 built.pickle")
    assert tab.get_by_text("model.py:7 first").count() == 0
    assert tab.get_by_text("model.py:7 second").count() > 0


@pytest.fixture(scope="module")
def harmful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the run `harmful`, whose names are HARMFUL."""
    root = tmp_path_factory.mktemp("harmful")
    actions: list[dict[str, Any]] = [
        {"action": "alloc", "addr": index * MIB, "size": MIB, "frames": stack(name)}
        for index, name in enumerate(HARMFUL)
    ]
    actions.append({"action": "oom", "size": 1, "device_free": 1, "frames": stack(HARMFUL[0])})
    made = snapshot(actions, allocator_settings={HARMFUL[0]: HARMFUL[1]})
    (root / "harmful.pickle").write_bytes(pickle.dumps(made, protocol=4))
    store = ingest.Store(root / "store")
    store.add(root / "harmful.pickle")
    return store.path


@pytest.mark.parametrize("option", OPTIONS)
def test_harmful_names_are_only_text(
    command: Command, harmful: Path, tmp_path: Path, tab: Page, option: str
) -> None:
    file = tmp_path / f"harmful.{option[-4:].strip('-')}"
    assert command("export", "harmful", option, file, store=harmful).code == 0
    text = file.read_text()
    assert "<script>window" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    tab.goto(file.as_uri())
    # Chromium has shown the page, no script of a name ran, and the names are text
    assert tab.evaluate("window.harmed") is None
    assert "<script>window.harmed = 1</script>" in (tab.locator(":root").text_content() or "")
    if option.endswith("svg"):
        names = [name for name, *_ in frames_of(file)]
        assert f"model.py:7:{HARMFUL[1]}" in names
        assert r"model.py:7:\u202e&amp;\x00\x1b[2J{{script}}" in names


RUNS = ["train_ctx512", "torch20", "h100", "memory_timeline"]


@pytest.mark.parametrize("run", RUNS)
def test_a_page_loads_nothing(command: Command, tmp_path: Path, tab: Page, run: str) -> None:
    file = tmp_path / "page.html"
    assert command("export", run, "--memory-html", file).code == 0
    text = file.read_text()
    for outside in ("http:", "https:", "src=", "@import", "url(", "<link"):
        assert outside not in text
    assert len(text) < 1_000_000
    tab.goto(file.as_uri())
    assert tab.locator("table").count() >= 1


def test_a_page_shows_the_owners_of_memory_over_time(
    command: Command, memory_store: Path, tmp_path: Path, tab: Page
) -> None:
    file = tmp_path / "page.html"
    command("export", "train_ctx512", "--memory-html", file)
    tab.goto(file.as_uri())
    text = tab.locator("main").inner_text()
    for value in ("4.75 GiB", "peak after 0.050482 s\n11.57 GiB", "end\n6.36 GiB", "22,332"):
        assert value in text
    row = tab.locator("tr", has_text="model.py:39 forward").first
    assert "2,179,563,520" in row.inner_text()
    row.locator("summary").click()
    assert "model.py:39 forward\n" in row.locator("pre").first.inner_text()
    device = tab.locator("tr", has_text="device").last.inner_text().split("\t")
    assert device[:4] == ["device", "400", "11.79 GiB", "6.37 GiB"]
    assert device[6] == "1002.67 MiB"

    canvas = tab.locator("canvas")
    box = canvas.bounding_box()
    assert box
    peak_x = 84 + (box["width"] - 96) * 0.050482 / 0.280395
    canvas.hover(position={"x": peak_x + 2, "y": box["height"] - 60})
    tip = tab.locator("#tip").inner_text()
    assert "(before the trace)\n3.15 GiB (3,385,466,880 bytes) of 11." in tip
    canvas.click(position={"x": peak_x + 2, "y": box["height"] - 60})
    held = tab.locator("#moment tbody tr")
    assert held.count() == 9
    assert "(before the trace)" in held.first.inner_text()
    sizes = [held.nth(row).locator("td").nth(2).inner_text() for row in range(9)]
    heading = tab.locator("#moment h2").inner_text()
    ordinal = re.match(r"In use after action ([\d,]+), at 0\.05\d+ s: 11\.\d+ GiB$", heading)
    assert ordinal
    with ingest.connect(memory_store) as connection:
        used = connection.execute(
            "SELECT active_bytes FROM memory_timeline WHERE run_id LIKE 'train_ctx512-%' "
            "AND ordinal = $1",
            [int(ordinal[1].replace(",", ""))],
        ).fetchone()
    assert used == (sum(int(cell.replace(",", "")) for cell in sizes),)
    tab.get_by_label("order of actions").check()
    assert tab.locator("#moment").inner_text() == ""
    canvas.focus()
    canvas.press("ArrowRight")
    assert "In use before the first action: 4.75 GiB" in tab.locator("#moment").inner_text()
    painted = tab.evaluate(
        """() => {
            const canvas = document.querySelector("canvas");
            const { width, height } = canvas;
            const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
            const colours = new Set();
            for (let i = 0; i < data.length; i += 4)
                if (data[i + 3] === 255) colours.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
            return [...colours];
        }"""
    )
    for colour in ((0x2A, 0x5C, 0xD6), (0xEB, 0x85, 0x11), (0x4B, 0x99, 0x58), (0xC6, 0xC6, 0xC6)):
        assert ",".join(map(str, colour)) in painted


def test_a_page_shows_where_memory_ran_out(
    command: Command, add_snapshot: Callable[..., Path], tmp_path: Path, tab: Page
) -> None:
    store = add_snapshot(
        [
            {"action": "alloc", "addr": 0, "size": 256 * MIB, "frames": stack("weights")},
            {"action": "oom", "size": 2048 * MIB, "device_free": 100, "frames": stack("grow")},
            {"action": "free", "addr": 0, "size": 256 * MIB},
        ],
        allocator_settings={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
    )
    file = tmp_path / "page.html"
    command("export", "built", "--memory-html", file, store=store)
    tab.goto(file.as_uri())
    text = tab.locator("main").inner_text()
    assert "Out of memory at action 1, after 0.000001 s" in text
    assert "2.00 GiB requested by model.py:7 grow; device free 100 B; reserved 1.00 GiB" in text
    assert "largest free block 768.00 MiB" in text
    assert "PYTORCH_CUDA_ALLOC_CONF\texpandable_segments:True" in text


def test_a_file_is_written_atomically(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory.svg"
    file.write_text("before")
    link = tmp_path / "link.svg"
    link.symlink_to(file)
    (tmp_path / "folder").mkdir()

    def refused(target: Path, reason: str) -> None:
        done = command("export", "trimmed", "--memory-svg", target)
        assert (done.code, done.out) == (1, "")
        assert done.err == f"error: {target}: {reason}\n"
        assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "link.svg", "memory.svg"]

    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    done = command("export", "trimmed", "--memory-svg", circle)
    assert done.code == 1
    assert done.err.startswith(f"error: {circle}: cannot be written: ")
    circle.unlink()
    refused(tmp_path / "folder", "is a directory")
    refused(Path("/dev/null"), "is not a regular file")
    refused(tmp_path / "none" / "a.svg", "cannot be written: No such file or directory")
    refused(file / "a.svg", "cannot be written: Not a directory")
    with monkeypatch.context() as broken:
        broken.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
        refused(file, "cannot be written: No space left")
    assert file.read_text() == "before"
    assert command("export", "trimmed", "--memory-svg", link).code == 0
    assert link.is_symlink()
    assert frames_of(file)[0][2] == 421_527_552


@pytest.mark.parametrize("options", [(), OPTIONS[:2], OPTIONS[1:], OPTIONS])
def test_exactly_one_kind_of_file_must_be_requested(
    command: Command, tmp_path: Path, options: tuple[str, ...]
) -> None:
    arguments = [part for option in options for part in (option, tmp_path / option.strip("-"))]
    done = command("export", "trimmed", *arguments)
    assert (done.code, done.out) == (2, "")
    message = " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.err).split())
    assert "give exactly one of --memory-svg" in message
    assert list(tmp_path.iterdir()) == []


def test_exporting_missing_data_is_an_error(command: Command, tmp_path: Path) -> None:
    for option in OPTIONS[:2]:
        done = command("export", "h100", option, tmp_path / "a.svg")
        assert done.code == 1
        assert re.fullmatch(
            r"error: h100_owlv2-\w+: no memory snapshot with segments, which a flame graph needs; "
            r"use --memory-html instead\n",
            done.err,
        )
    done = command("export", "cpu_only", "--memory-html", tmp_path / "a.html")
    assert done.code == 1
    assert "no memory was recorded; profile with profile_memory=True" in done.err
    assert list(tmp_path.iterdir()) == []
