-- Lanes of the gaps. A thread can launch on several devices, whose gaps overlap, so each pair of
-- thread and device has a lane.
-- One row: a thread and a device that it launches on.
-- Materialised: `lane` is a row number, which must stay the same for all readers.
SELECT thread, device_id, row_number() OVER () AS lane
FROM (SELECT DISTINCT thread, device_id FROM gaps WHERE thread IS NOT NULL);
