"""Extreme numbers in MegEngine's profiles: neither `ingest add` nor a query fails."""

import pytest

from tests.builders.megengine import CPU, GPU, OTHER_GPU, THREAD, Opr, chunk, profile, variable
from tests.builders.relations import built

HUGE = 9 * 10**18


def test_a_wait_of_centuries_counts_as_a_wait() -> None:
    writer = Opr("0", device={OTHER_GPU: (0, 0, 1)}, host={THREAD: (0, 0, 1)}, writes=["x"])
    before = Opr("1", device={GPU: (0, 0, 1)}, host={THREAD: (0, 0, 1)})
    waiting = Opr("2", device={GPU: (-8e9, 2, 3)}, reads=["x"], waits={GPU: ["x"]})
    text = profile(writer, before, waiting)
    assert built(text).sql("SELECT dur_ns, cause FROM bubbles WHERE NOT is_edge").fetchall() == [
        (10**9, "dependency")
    ]


def test_a_sum_beyond_the_range_of_ns_is_null() -> None:
    oprs = [Opr(key, device={CPU: (0, 0, 9e9)}) for key in "12"]
    connection = built(profile(*oprs))
    query = "SELECT oprs, device_time_ns FROM megengine_types"
    assert connection.sql(query).fetchall() == [(2, None)]


@pytest.mark.parametrize(("size", "live"), [(HUGE, None), (16, 37)])
def test_memory_beyond_the_range_of_bigint_is_null(size: int, live: int | None) -> None:
    chunks = {
        "chk0": chunk(size, "a", 1),
        "chk1": chunk(size, "b", HUGE + 1),
        "chk2": chunk(5, "c", 2 * HUGE + 100),
    }
    var = {name: variable(CPU, f"chk{number}") for number, name in enumerate("abc")}
    opr = Opr("1", device={CPU: (0, 0, 1)}, writes=["a", "b", "c"])
    connection = built(profile(opr, var=var, mem_chunk=chunks))
    query = "SELECT live_bytes FROM megengine_memory_over_order"
    assert connection.sql(query).fetchall() == [(live,)]
