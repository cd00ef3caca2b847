-- `chrome_tid(recorded, track, category)`: the id of an event's thread or stream as JSON, on one of
-- its tracks. `track` counts from 2. It is null on the first track, whose id is as recorded.
-- Perfetto takes an id that is a text as the name, too.
CREATE MACRO chrome_tid(recorded, track, category) AS if(
    track IS NULL,
    chrome_id(recorded),
    to_json(concat(
        if(starts_with(category, 'gpu_') OR side(category) = 'device', 'stream ', 'thread '),
        recorded,
        ' (',
        track,
        ')'
    ))::VARCHAR
);
