-- Host spans on the threads for which a device waited, on the lanes of `gap_lanes`.
-- One row: a span of the host on a lane.
-- Materialised: an ASOF join needs only these few columns.
SELECT
    gap_lanes.lane,
    host_spans.event_id AS span_id,
    host_spans.start_ns,
    host_spans.end_ns
FROM host_spans
INNER JOIN gap_lanes ON host_spans.lane = gap_lanes.thread
WHERE gap_lanes.lane IN (SELECT lane FROM host_gaps);
