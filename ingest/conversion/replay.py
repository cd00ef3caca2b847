"""The lives of allocations and the memory curve, replayed from an allocator's actions.

This is not SQL, because window functions over two million actions took ten times as long. Here each
action is compared with its neighbours at the same address, in a few passes over arrays.
"""

from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ingest import sql
from ingest.arrow import arrow_of, numpy_of

NONE, ALLOC, FREE, REQUEST, COMPLETION = range(5)  # role of an action in an allocation's life
READ_ROWS = 1 << 16
MISSING = np.iinfo(np.int64).min  # represents null
UNKNOWN = -2  # represents an unknown ordinal; -1 is before the first action

Integers = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int32]
Columns = dict[str, npt.NDArray[Any]]


def replay(
    connection: duckdb.DuckDBPyConnection, _reads: tuple[str, ...], _fills: tuple[str, ...]
) -> None:
    """Fill `memory_curves` and `replayed_lives` from the actions of each device with memory.

    The rules are those of MemoryViz. A free whose request and completion follow each other directly
    ends a life at the request. Otherwise the memory is in use until the completion. A free without
    an earlier allocation ends the life of memory that was allocated before the trace began. The
    curves are relative to the memory at the start.
    """
    devices = connection.execute(
        "SELECT curve_id, actions, origin FROM memory_devices WHERE actions > 0 ORDER BY curve_id"
    ).fetchall()
    for curve_id, count, origin in devices:
        queries = ["actions_of_device"]
        if origin != "snapshot":
            queries.append("recorded_totals")
        actions: Columns = {}
        for name in queries:
            query = connection.sql(sql.query(name), params={"curve_id": curve_id})
            actions |= _in_order(query.to_arrow_reader(READ_ROWS), count)
        life_actions = LifeActions(actions["role"], actions["address"], actions["bytes"])
        for table, columns in (
            ("replayed_lives", _lives(actions, life_actions)),
            ("memory_curves", _curves(actions, life_actions)),
        ):
            arrays = {
                name: values if isinstance(values, pa.Array) else arrow_of(values)
                for name, values in columns.items()
            }
            connection.register("replayed", pa.table(arrays))
            connection.execute(
                f"INSERT INTO {table} BY NAME SELECT *, {curve_id} AS curve_id FROM replayed"
            )
            connection.unregister("replayed")


def _in_order(batches: pa.RecordBatchReader, count: int) -> Columns:
    """Return the columns of `count` actions, ordered by their ordinals."""
    columns: Columns = {}
    read = 0
    for batch in batches:
        read += len(batch)
        ordinal = numpy_of(batch["ordinal"])
        for name in batch.schema.names:
            values = numpy_of(batch[name])
            columns.setdefault(name, np.empty(count, values.dtype))[ordinal] = values
    if read != count:
        raise AssertionError(f"read {read:,} of {count:,} actions")
    return columns


class LifeActions:
    """The actions that begin and end lives, sorted by address and then by ordinal.

    `role`, `address`, `size`: those of all actions of a device, in order.
    """

    def __init__(
        self, role: npt.NDArray[np.int8], address: npt.NDArray[np.uint64], size: Integers
    ) -> None:
        role = _with_merged_frees(role, address)
        ordinal = np.flatnonzero(role).astype(np.int32)
        self.ordinal = ordinal[np.argsort(address[ordinal], kind="stable")]
        self.role, self.address = role[self.ordinal], address[self.ordinal]
        self.size = size[self.ordinal]
        last, last_but_one = self._neighbour(-1), self._neighbour(-2)
        self.last_role = self._role(last)
        is_pending = (self.last_role == REQUEST) & (self._role(last_but_one) == ALLOC)
        begun = np.where(self.last_role == ALLOC, last, np.where(is_pending, last_but_one, -1))
        self.is_of_trace = begun >= 0  # whether the life that ends here began in the trace
        self.begun_size = np.where(self.is_of_trace, self.size[begun], self.size)
        self.ends = (self.role == FREE) | (self.role == COMPLETION)
        self.requested_last = np.where(self.last_role == REQUEST, self.ordinal[last], UNKNOWN)

    def lives(self) -> tuple[Indices, Indices, Indices, Indices]:
        """Return four ordinals for each life, or UNKNOWN.

        They are the first known action, the allocation, the request to free, and the free. The
        request is -1 if a life began before the trace and its free had been requested by then.
        """
        is_alloc = self.role == ALLOC
        next_, after = self._neighbour(1), self._neighbour(2)
        next_role, role_after = self._role(next_), self._role(after)
        requested = np.where((next_ >= 0) & (next_role != ALLOC), self.ordinal[next_], UNKNOWN)
        ends_next = (next_role == FREE) | (next_role == COMPLETION)
        ends_after = (next_role == REQUEST) & ((role_after == FREE) | (role_after == COMPLETION))
        freed = np.where(
            ends_next, self.ordinal[next_], np.where(ends_after, self.ordinal[after], UNKNOWN)
        )
        before = self.ends & ~self.is_of_trace
        requested_before = np.where(
            self.last_role == REQUEST,
            self.requested_last,
            np.where(self.role == FREE, self.ordinal, -1),
        )
        unknown = np.full(int(before.sum()), UNKNOWN, np.int32)
        return (
            np.concatenate([self.ordinal[is_alloc], self.ordinal[before]]),
            np.concatenate([self.ordinal[is_alloc], unknown]),
            np.concatenate([requested[is_alloc], requested_before[before]]),
            np.concatenate([freed[is_alloc], self.ordinal[before]]),
        )

    def active_change(self) -> Integers:
        """Return the change in memory in use by each action, bytes."""
        return np.where(self.role == ALLOC, self.size, np.where(self.ends, -self.begun_size, 0))

    def allocated_change(self) -> Integers:
        """Return the change in allocated memory by each action, bytes.

        A request to free reduces it, and the completion of that request does not.
        """
        already_freed = np.where(
            self.role == COMPLETION,
            self.last_role != ALLOC,
            (self.role == FREE) & (self.last_role == REQUEST),
        )
        return np.where(self.role == ALLOC, self.size, np.where(already_freed, 0, -self.begun_size))

    def _neighbour(self, step: int) -> Indices:
        """Return the index of the action `step` further at the same address, or -1."""
        found = np.full(len(self.ordinal), -1, np.int32)
        if len(self.ordinal) > abs(step):
            here = slice(None, -step) if step > 0 else slice(-step, None)
            there = slice(step, None) if step > 0 else slice(None, step)
            index = np.arange(len(self.ordinal), dtype=np.int32)[there]
            found[here] = np.where(self.address[here] == self.address[there], index, -1)
        return found

    def _role(self, index: Indices) -> npt.NDArray[np.int8]:
        return np.where(index >= 0, self.role[index], NONE)


def _lives(actions: Columns, life_actions: LifeActions) -> dict[str, Any]:
    """Return the columns of `replayed_lives`, with null for unknown values."""
    known, allocated, requested, freed = life_actions.lives()

    def at(column: str, ordinals: Indices) -> pa.Array:
        values = actions[column][np.maximum(ordinals, 0)]
        return arrow_of(values, (ordinals < 0) | (values == MISSING))

    return {
        "address": actions["address"][known],
        "bytes": actions["bytes"][known],
        "alloc_ordinal": arrow_of(allocated, allocated == UNKNOWN),
        "free_requested_ordinal": arrow_of(requested, requested == UNKNOWN),
        "free_ordinal": arrow_of(freed, freed == UNKNOWN),
        "action_id": actions["action_id"][known],
        "alloc_ns": at("time_ns", allocated),
        "free_requested_ns": at("time_ns", requested),
        "free_ns": at("time_ns", freed),
        "stack_id": at("stack_id", allocated),
        "free_stack_id": at("stack_id", np.where(requested >= 0, requested, freed)),
    }


def _with_merged_frees(
    role: npt.NDArray[np.int8], address: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int8]:
    """Return the roles, with a request that the next action completes as a single free."""
    completed = (role[:-1] == REQUEST) & (role[1:] == COMPLETION) & (address[:-1] == address[1:])
    role = role.copy()
    role[:-1][completed] = FREE
    role[1:][completed] = NONE
    return role


def _curves(actions: Columns, life_actions: LifeActions) -> dict[str, Any]:
    """Return the columns of `memory_curves`: memory after each action, relative to the start."""
    changes: Columns = {}
    for name, change in (
        ("active_bytes", life_actions.active_change()),
        ("allocated_bytes", life_actions.allocated_change()),
    ):
        changes[name] = np.zeros(len(actions["role"]), np.int64)
        changes[name][life_actions.ordinal] = change
    allocated = np.cumsum(changes["allocated_bytes"])
    reserved: Any = np.cumsum(actions["reserved_change"])
    if "change_bytes" in actions:  # recorded, in a trace or timeline
        changes["allocated_bytes"] = actions["change_bytes"]
        allocated = np.cumsum(actions["change_bytes"])
        if (actions["allocated_bytes"] != MISSING).all():
            allocated = actions["allocated_bytes"] - actions["allocated_bytes"][0] + allocated[0]
            is_missing = actions["reserved_bytes"] == MISSING
            first = actions["reserved_bytes"][np.argmin(is_missing)]
            reserved = arrow_of(actions["reserved_bytes"] - first, is_missing)
    return {
        "action_id": actions["action_id"],
        "ordinal": np.arange(len(actions["role"])),
        "change_bytes": changes["allocated_bytes"],
        "active_bytes": np.cumsum(changes["active_bytes"]),
        "allocated_bytes": allocated,
        "reserved_bytes": reserved,
    }
