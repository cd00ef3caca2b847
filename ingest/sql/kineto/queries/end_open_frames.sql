-- Ends Python frames $event_ids at $ends_ns. Their arguments keep the recorded duration.
UPDATE staged
SET
    dur_ns = ended.end_ns - staged.relative_ns,
    args = json_merge_patch(staged.args, json_object('recorded dur (ns)', staged.dur_ns))
FROM (SELECT unnest($event_ids) AS event_id, unnest($ends_ns) AS end_ns) AS ended
WHERE staged.event_id = ended.event_id;
