-- `known_share(flops_ns, device_ns, busy_ns, is_host)`: share of the device time that belongs to
-- operators whose floating-point operations are known, percent. Of a host, the share of its busy
-- time: its operators can overlap. Null if there is no time.
CREATE MACRO known_share(flops_ns, device_ns, busy_ns, is_host) AS
100 * if(is_host, least(flops_ns, busy_ns), flops_ns)
/ nullif(if(is_host, busy_ns, device_ns), 0);
