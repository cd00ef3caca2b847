-- `near(time_ns)`: the 65 µs that a moment lies in. Most calls are shorter than that: whether
-- something happened near one tells cheaply that most calls need not be looked at closely.
CREATE MACRO near(time_ns) AS time_ns >> 16;
