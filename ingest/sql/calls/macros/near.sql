-- `near(time_ns)`: the number of the 65 µs interval that contains a time. Most calls are shorter.
-- If a call lies within one interval in which nothing happened, it needs no time-ordered join.
CREATE MACRO near(time_ns) AS time_ns >> 16;
