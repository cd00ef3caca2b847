"""The busy time of devices, as recorded in run.json."""

from functools import partial
from types import SimpleNamespace

from capture.recording.device_time import DeviceTime


def test_busy_time_is_the_work_within_the_steps():
    """Overlapping work counts once. Annotations and work between steps do not count."""

    def event(kind: str, start_ns: int, end_ns: int) -> SimpleNamespace:
        device = SimpleNamespace(name="CPU" if kind == "cpu_op" else "CUDA")
        of = {"activity_type": kind, "device_type": device, "device_index": 1}
        of |= {"start_ns": start_ns, "end_ns": end_ns}
        return SimpleNamespace(**{name: partial(lambda x: x, value) for name, value in of.items()})

    events = [
        *(event("cpu_op", 0, 100), event("gpu_user_annotation", 0, 100)),
        *(event("kernel", 5, 20), event("gpu_memcpy", 15, 25), event("kernel", 28, 60)),
    ]
    results = SimpleNamespace(kineto_results=SimpleNamespace(events=lambda: events))
    of_steps, of_all = DeviceTime(), DeviceTime()
    of_steps.add(SimpleNamespace(profiler=results), [(10, 30), (50, 70)])
    of_all.add(SimpleNamespace(profiler=results), [])

    assert of_steps.summary() == [{"device": "cuda:1", "busy_ns": 15 + 2 + 10, "recorded_ns": 40}]
    assert of_all.summary() == [{"device": "cuda:1", "busy_ns": 20 + 32, "recorded_ns": 100}]


def test_busy_time_with_a_torch_that_does_not_say_the_type_of_events():
    def event(device: str, name: str, start_ns: int, end_ns: int) -> SimpleNamespace:
        of = {"name": name, "is_user_annotation": name == "mine"}
        of |= {"device_type": SimpleNamespace(name=device)}
        of |= {"device_index": 0, "start_ns": start_ns, "end_ns": end_ns}
        return SimpleNamespace(**{name: partial(lambda x: x, value) for name, value in of.items()})

    events = [
        *(event("CPU", "aten::mm", 0, 90), event("CUDA", "mine", 0, 90)),
        *(event("CUDA", "sgemm", 10, 40), event("CUDA", "Stream Wait Event", 30, 60)),
    ]
    results = SimpleNamespace(kineto_results=SimpleNamespace(events=lambda: events))
    time = DeviceTime()
    time.add(SimpleNamespace(profiler=results), [])

    assert time.summary() == [{"device": "cuda:0", "busy_ns": 30, "recorded_ns": 90}]
