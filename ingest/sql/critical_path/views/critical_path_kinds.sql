-- The kinds of intervals on a critical path: `critical_path_kinds()`.
-- One row: a kind of interval.
--
-- kind     name of the kind, as in `critical_paths`
-- ordinal  display order of the kinds, from 1
-- text     meaning of the kind
CREATE MACRO critical_path_kinds() AS TABLE
    SELECT kind, ordinal::BIGINT AS ordinal, text
    FROM (
        VALUES
        ('compute', 1, 'a compute kernel ran'),
        ('communication', 2, 'a communication kernel ran'),
        ('copy', 3, 'a copy or memset ran'),
        (
            'host',
            4,
            'the host worked: in an operator or call, or in Python between them; in MegEngine, a '
            || 'comp node waited for the host'
        ),
        ('dataloader', 5, 'the host loaded data'),
        ('compile', 6, 'the host compiled'),
        ('launch', 7, 'from a call to the start of its activity: under 30 µs, or within the call'),
        ('queue', 8, 'from the end of an activity to the next on its stream, if under 30 µs'),
        (
            'dependency',
            9,
            'from the end of an activity to the start of one on another stream or comp node'
        ),
        ('sync', 10, 'from the end of what the host waited for to the end of its wait'),
        ('thread', 11, 'a switch from one thread of the host to another'),
        ('unexplained', 12, 'an unexplained wait, on the host or of 30 µs or more')
    ) AS listed (kind, ordinal, text);
