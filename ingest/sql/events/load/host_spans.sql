-- What nests on a thread of the host.
-- One row: a span.
SELECT lane, event_id, start_ns, end_ns, event_index FROM complete WHERE side = 'host';
