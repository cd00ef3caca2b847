-- What can take time on a critical path: `critical_path_kinds()`.
-- One row: a kind of stretch.
--
-- kind     its name, as in `critical_paths`
-- ordinal  order in which to show the kinds, from 1
-- text     what it is
CREATE MACRO critical_path_kinds() AS TABLE
    SELECT kind, ordinal::BIGINT AS ordinal, text
    FROM (
        VALUES
        ('compute', 1, 'a compute kernel ran'),
        ('communication', 2, 'a communication kernel ran'),
        ('copy', 3, 'a copy or set ran'),
        ('host', 4, 'the host worked: in an operator or call, or in Python between them'),
        ('launch', 5, 'from a call to the start of what it launched: under 30 µs, or in the call'),
        ('queue', 6, 'from the end of an activity to the next of its stream, if under 30 µs'),
        ('dependency', 7, 'from the end of an activity to the start of one on another stream'),
        ('sync', 8, 'from the end of what the host waited for to the end of its wait'),
        ('thread', 9, 'from one thread of the host to another'),
        ('unexplained', 10, 'a wait that nothing explains: on the host, or of 30 µs or more')
    ) AS listed (kind, ordinal, text);
