-- Meaning: Idle time of cause `sync`, after a wait for the device, as in `waits`.
-- Title: Idle: the host waited for the device
-- Short title: waits
-- Colour: sync
-- Applies to: device
-- Needs: launches
-- Cause: sync
-- Path: sync
-- Path text: waits for the device
-- Finding: The device was idle for {idle} of {steps} after the host had waited for it; {named} of
--   that after {name}.
-- Finding: The device was idle for {idle} of {steps} after the host had waited for it.
-- Evidence: waits
-- Evidence of: wait, copy, wait_frame
-- Evidence sums: sum(idle_ns)::BIGINT AS idle_ns, sum(bubbles)::BIGINT AS bubbles
-- Evidence order: idle_ns DESC, wait, wait_frame
SELECT *, nullif(concat_ws(' at ', wait, wait_frame), '') AS name, dur_ns AS named_ns
FROM measured_bubbles
WHERE cause = 'sync';
