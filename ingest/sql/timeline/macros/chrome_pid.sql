-- `chrome_pid(recorded, interval_number)`: the id of a process as JSON, in a file with several
-- ranks or runs. `interval_number` numbers the exported intervals from 0, so that equal ids of
-- different ranks become distinct. It is null if the file holds one rank; ids then stay as
-- recorded.
CREATE MACRO chrome_pid(recorded, interval_number) AS CASE
    WHEN interval_number IS NULL THEN chrome_id(recorded)
    WHEN regexp_full_match(recorded, '0|[1-9][0-9]{0,6}')
        THEN (interval_number::BIGINT * 10_000_000 + recorded::BIGINT)::VARCHAR
    ELSE to_json(concat(interval_number, ' ', recorded))::VARCHAR
END;
