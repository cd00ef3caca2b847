-- `work_item_of(graph_call_id, top_op_id, event_id)`: the work item of a device activity: the
-- operator that a CUDA graph recorded, the outermost operator around the launch, or the activity.
CREATE MACRO work_item_of(graph_call_id, top_op_id, event_id) AS coalesce(
    graph_call_id, top_op_id, event_id
);
