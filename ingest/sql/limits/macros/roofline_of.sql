-- `roofline_of(kind, at_peak_ns, at_bandwidth_ns)`: the shortest time that a device takes for work
-- of a kind: the longer one of its times at the peak and at the memory bandwidth. Null if unknown.
CREATE MACRO roofline_of(kind, at_peak_ns, at_bandwidth_ns) AS CASE
    -- A product needs its time at the peak, and other work that at the bandwidth. `greatest` skips
    -- nulls.
    WHEN if(is_product(kind), at_peak_ns, at_bandwidth_ns) IS NOT NULL
        THEN greatest(at_peak_ns, at_bandwidth_ns)
END;
