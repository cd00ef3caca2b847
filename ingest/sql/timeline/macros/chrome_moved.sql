-- `chrome_moved(event, pid, tid, relative_ns, interval_number, more)`: a recorded event (JSON) with
-- the ids and the time that it has in an export. `tid` is JSON. `more` holds further fields, each
-- after a comma; null for none.
CREATE MACRO chrome_moved(event, pid, tid, relative_ns, interval_number, more) AS json_merge_patch(
    event,
    concat(
        '{"pid":',
        chrome_pid(pid, interval_number),
        ',"tid":',
        tid,
        ',"ts":',
        chrome_us(relative_ns),
        more,
        '}'
    )
)::VARCHAR;
