"""The topics that the SQL is divided into, `ingest/sql/<topic>`, in the order for a reader."""

from typing import NamedTuple

from ingest.sql.loader import SqlFile, relations


class Topic(NamedTuple):
    """A folder of `ingest/sql`: its title, and what its relations tell."""

    name: str
    title: str
    text: str


TOPICS = (
    Topic(
        "runs",
        "Runs and files",
        "What was added to the store, and the metrics of each run at a glance.",
    ),
    Topic("steps", "Time of the steps", "The steps of each run, how long they took and what for."),
    Topic(
        "stages",
        "Stages of pipelines",
        "Encoding, denoising and decoding in each call of a diffusers pipeline.",
    ),
    Topic("ranking", "Rankings", "Device time by operator and by kernel."),
    Topic("device", "Devices", "What ran on each device, when it idled, and why."),
    Topic(
        "streams",
        "Streams",
        "What ran on each stream, what waited in its queue, and what overlapped.",
    ),
    Topic(
        "critical_path",
        "Critical path",
        "What each step waited for, from its start to its end, and what would make it shorter.",
    ),
    Topic("host", "Host", "Operators on the host, and what they took there."),
    Topic(
        "calls",
        "Calls",
        "What the host called, from Python frames down, and the tables of torch.profiler.",
    ),
    Topic("events", "Recorded events", "All events of the traces, as recorded."),
    Topic("timeline", "Timelines", "The events of a stretch of time, as timelines show them."),
    Topic("memory", "Memory", "What was allocated, what held memory at any moment, and for whom."),
    Topic("compilation", "Compilation", "What torch.compile compiled, why, and into what kernels."),
    Topic(
        "megengine",
        "MegEngine",
        "The operators of MegEngine's graphs: time, computation, memory, as profiles have them.",
    ),
    Topic(
        "sweeps",
        "Sweeps",
        "Variants of a pipeline that `capture sweep` timed, compared and profiled.",
    ),
    Topic("advice", "What to improve", "What could make a run faster, and by how much at most."),
    Topic("compare", "Comparison", "Two runs, or two groups of runs, side by side."),
    Topic(
        "alignment", "Alignment of work", "Which work of one run stands against which of another."
    ),
)


def of_topic(topic: Topic) -> tuple[SqlFile, ...]:
    """The tables, views and macros of a topic, in this order; parts of others come last."""
    found = [file for file in relations() if file.topic == topic.name]
    return tuple(sorted(found, key=lambda file: bool(file.documentation.part_of)))


def start_here() -> dict[str, str]:
    """The relations that users start from, in the order of the topics: what each answers."""
    found = [file for topic in TOPICS for file in of_topic(topic)]
    return {file.name: file.documentation.question for file in found if file.documentation.question}
