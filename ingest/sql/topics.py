"""The topics of relations that users query, folders of `ingest/sql`, in reading order."""

from typing import NamedTuple

from ingest.sql.loader import SqlFile, relations


class Topic(NamedTuple):
    """A folder of `ingest/sql`: its name, its title, and a description of its relations."""

    name: str
    title: str
    text: str


TOPICS = (
    Topic(
        "runs",
        "Runs and files",
        "The runs of the store, their files, their main metrics, and the variants of sweeps.",
    ),
    Topic("steps", "Time of the steps", "The steps of each run, and how their time was spent."),
    Topic(
        "stages",
        "Stages of pipelines",
        "Encoding, denoising and decoding in each call of a diffusers pipeline.",
    ),
    Topic("ranking", "Rankings", "Time by operator and by kernel, on devices and on hosts."),
    Topic(
        "work",
        "Work",
        "Floating-point operations and bytes of operators, and how much of them is known.",
    ),
    Topic(
        "limits",
        "Limits of devices",
        "Peaks of devices, and how close operators, kernels and runs come to them.",
    ),
    Topic(
        "device",
        "Device activity",
        "Activity and idle time of each device, and the causes of idling.",
    ),
    Topic(
        "streams",
        "Streams",
        "Activity and queue of each stream, and overlap between streams.",
    ),
    Topic(
        "ranks",
        "Ranks",
        "Collectives of all ranks, their clocks, which rank makes the others wait, and hangs.",
    ),
    Topic(
        "cuda_graphs",
        "CUDA graphs",
        "What CUDA graphs were captured from, so that their replays have operators and modules.",
    ),
    Topic(
        "critical_path",
        "Critical path",
        "The chain of work that determines a step's duration, and what would make it shorter.",
    ),
    Topic("host", "Host", "Operators on the host, and what the host did over time."),
    Topic(
        "calls",
        "Calls",
        "Call trees of the host, from Python frames to kernels, and rankings of modules.",
    ),
    Topic("events", "Recorded events", "All events of the traces, as recorded."),
    Topic("timeline", "Timelines", "The events of a time interval, as timelines show them."),
    Topic("memory", "Memory", "Allocations, memory in use at any moment, and its owners."),
    Topic("compilation", "Compilation", "Compilations of torch.compile, their causes and kernels."),
    Topic(
        "megengine",
        "MegEngine",
        "The operators of MegEngine's graphs: time, computation and memory.",
    ),
    Topic("advice", "What to improve", "What could make a run faster, and by how much at most."),
    Topic(
        "comparison", "Comparison", "Metrics of two runs, or of two groups of runs, side by side."
    ),
    Topic("alignment", "Alignment of work", "Matching of one run's work to another run's work."),
    Topic(
        "peers",
        "Figures of other tools",
        "Figures by the definitions of torch.profiler and of TensorBoard's plugin.",
    ),
)


def of_topic(topic: Topic) -> tuple[SqlFile, ...]:
    """Return the tables, views and macros of a topic, in this order, parts of others last."""
    found = [file for file in relations() if file.topic == topic.name]
    return tuple(sorted(found, key=lambda file: bool(file.documentation.part_of)))


def start_here() -> dict[str, str]:
    """Return the relations that users start from, in topic order, with the question of each."""
    found = [file for topic in TOPICS for file in of_topic(topic)]
    return {file.name: file.documentation.question for file in found if file.documentation.question}
