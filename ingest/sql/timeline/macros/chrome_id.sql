-- `chrome_id(recorded)`: the id of a process or thread as JSON: a number if it looks like one, or
-- else a string.
CREATE MACRO chrome_id(recorded) AS CASE
    WHEN regexp_full_match(recorded, '0|-?[1-9][0-9]{0,14}') THEN recorded
    ELSE coalesce(to_json(recorded)::VARCHAR, 'null')
END;
