"""Clocks of MegEngine's comp nodes: no kernel starts before the work that it waits for."""

from tests.builders.megengine import Opr, profile
from tests.builders.relations import built


def test_each_comp_node_of_a_chain_starts_after_the_previous_one() -> None:
    nodes = [f'CompNode("gpu{number}:0" from "gpu{number}:0")' for number in range(8)]
    oprs = [
        Opr(
            str(number),
            device={node: (0, 0, 10)},
            reads=[f"v{number - 1}"] if number else [],
            writes=[f"v{number}"],
            waits={node: [f"v{number - 1}"]} if number else {},
        )
        for number, node in enumerate(nodes)
    ]
    found = built(profile(*oprs)).sql(
        "SELECT clock_shift_ns FROM megengine_comp_nodes ORDER BY device"
    )
    assert found.fetchall() == [(number * 10**10,) for number in range(8)]
