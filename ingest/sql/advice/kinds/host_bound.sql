-- Meaning: Idle time of cause `host`, in which the host was busy elsewhere; on a host, time
--   without an operator.
-- Title: Idle: the host launches late
-- Title on a host: Between operators: Python
-- Short title: host
-- Colour: host
-- Applies to: device, host
-- Needs: launches
-- Cause: host
-- Path: host
-- Path text: the work of the host
-- Finding: No operator ran for {host_idle} of {steps}: the host was in Python, or waited.
-- Finding: The device was idle for {idle} of {steps} because the host launched late; {named} of
--   that in {name}.
-- Finding: The device was idle for {idle} of {steps} because the host launched late.
SELECT *, nullif(concat_ws(' at ', host_op, host_frame), '') AS name, dur_ns AS named_ns
FROM measured_bubbles
WHERE cause = 'host';
