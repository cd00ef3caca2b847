"""Tables of a memory snapshot: their columns, and the keys of these in the file."""

import pyarrow as pa

EVENT_SCHEMA = pa.schema(
    [
        ("device", pa.int32()),  # index in device_traces
        ("ordinal", pa.int64()),  # index in the trace of that device
        ("action", pa.string()),
        ("address", pa.uint64()),
        ("bytes", pa.int64()),
        ("stream", pa.int64()),
        ("pool", pa.string()),  # in the form of torch: (0, 1)
        ("time_us", pa.int64()),  # since the Unix epoch
        ("device_free_bytes", pa.int64()),  # only for action oom
        ("compile_context", pa.string()),
        ("user_metadata", pa.string()),
        ("category", pa.string()),
        ("stack_id", pa.int32()),
        ("forward_stack_id", pa.int32()),
        ("other", pa.string()),  # all other keys, as JSON
    ]
)
EVENT_KEYS = {
    "action": "action", "address": "addr", "bytes": "size", "stream": "stream",
    "time_us": "time_us", "device_free_bytes": "device_free", "compile_context": "compile_context",
    "user_metadata": "user_metadata", "category": "category",
}  # fmt: skip
STACK_KEYS = {"stack_id": "frames", "forward_stack_id": "forward_frames"}
POOL_KEY = "pool_id"
KNOWN_EVENT_KEYS = frozenset([*EVENT_KEYS.values(), *STACK_KEYS.values(), POOL_KEY])
SEGMENT_SCHEMA = pa.schema(
    [
        ("segment_id", pa.int32()),  # index in the file
        ("device", pa.int32()),
        ("address", pa.uint64()),
        ("bytes", pa.int64()),
        ("allocated_bytes", pa.int64()),
        ("active_bytes", pa.int64()),
        ("requested_bytes", pa.int64()),
        ("stream", pa.int64()),
        ("kind", pa.string()),
        ("pool", pa.string()),
        ("is_expandable", pa.bool_()),
        ("stack_id", pa.int32()),
    ]
)
SEGMENT_KEYS = {
    "device": "device", "address": "address", "bytes": "total_size",
    "allocated_bytes": "allocated_size", "active_bytes": "active_size",
    "requested_bytes": "requested_size", "stream": "stream", "kind": "segment_type",
    "is_expandable": "is_expandable",
}  # fmt: skip
POOL_OF_SEGMENT, FRAMES, BLOCKS = "segment_pool_id", "frames", "blocks"
KNOWN_SEGMENT_KEYS = frozenset([*SEGMENT_KEYS.values(), POOL_OF_SEGMENT, FRAMES, BLOCKS])
BLOCK_KEYS = {
    "address": "address", "bytes": "size", "requested_bytes": "requested_size", "state": "state",
}  # fmt: skip
HISTORY = "history"  # key of blocks in torch 2.0
KNOWN_BLOCK_KEYS = frozenset([*BLOCK_KEYS.values(), FRAMES, HISTORY])
BLOCK_SCHEMA = pa.schema(
    [
        ("segment_id", pa.int32()),
        ("device", pa.int32()),
        ("address", pa.uint64()),
        ("bytes", pa.int64()),
        ("requested_bytes", pa.int64()),
        ("state", pa.string()),
        ("stack_id", pa.int32()),
    ]
)
ANNOTATION_SCHEMA = pa.schema(
    [
        ("device", pa.int32()),
        ("name", pa.string()),
        ("stage", pa.string()),
        ("time_us", pa.int64()),
    ]
)
SETTING_SCHEMA = pa.schema([("setting", pa.string()), ("value", pa.string())])
TRACES, SEGMENTS = "device_traces", "segments"
ANNOTATIONS, SETTINGS = "external_annotations", "allocator_settings"
KNOWN_KEYS = frozenset([TRACES, SEGMENTS, ANNOTATIONS, SETTINGS])
