-- `near(time_ns)`: the number of the 65 µs stretch that a moment lies in. Most calls are shorter. A
-- call within one stretch, in which nothing happened, needs no join in order of time.
CREATE MACRO near(time_ns) AS time_ns >> 16;
