-- Host spans on the threads for which a device waited, on the lanes of `gap_lanes`.
-- One row: a span of the host on a lane. `nesting` numbers all spans, those of a lane from
-- outermost to innermost.
-- Materialised: an ASOF join needs only these few columns.
SELECT
    gap_lanes.lane,
    host_spans.event_id AS span_id,
    host_spans.start_ns,
    host_spans.end_ns,
    row_number() OVER (
        ORDER BY
            gap_lanes.lane,
            host_spans.start_ns,
            host_spans.end_ns DESC,
            host_spans.event_index,
            host_spans.event_id
    ) AS nesting
FROM host_spans
INNER JOIN gap_lanes ON host_spans.lane = gap_lanes.thread
WHERE gap_lanes.lane IN (SELECT lane FROM host_gaps);
