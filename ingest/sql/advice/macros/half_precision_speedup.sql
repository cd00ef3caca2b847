-- `half_precision_speedup(device_name)`: the peak rate of a device in float16 or bfloat16 on tensor
-- cores, divided by its peak rate in float32 without them; null if unknown. The peak rates are
-- those of the vendor's data sheet, without sparsity. The ratio is rounded to the nearest power of
-- 2.
CREATE MACRO half_precision_speedup(device_name) AS CASE
    WHEN regexp_matches(device_name, '\bG?B[123]00\b') THEN 32
    WHEN regexp_matches(device_name, '\b(A30|A[18]00|G?H[1-8]00|MI35\d[A-Z]?)\b') THEN 16
    WHEN regexp_matches(device_name, '\b(V100|T4)\b|TITAN V|\bMI[123]\d\d') THEN 8
    WHEN regexp_matches(device_name, '\b(L20|L40)\b|GeForce RTX [345]0') THEN 2
    WHEN regexp_matches(device_name, '\b(A2|A10G?|A16|A40|A6000|L4|L40S|H20)\b|RTX') THEN 4
END;
