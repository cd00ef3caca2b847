-- `half_precision_speedup(peaks)`: the peak of a device in float16 or bfloat16, whichever is
-- higher, divided by its peak in float32 of the vector units; null if unknown. `peaks` is a map as
-- in `device_rates`.
CREATE MACRO half_precision_speedup(peaks) AS
greatest(peaks['float16'], peaks['bfloat16']) / peaks['float32'];
