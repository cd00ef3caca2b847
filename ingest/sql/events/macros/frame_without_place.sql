-- `frame_without_place(name, directory)`: the name of an event; of a Python frame whose path leads
-- anywhere, `path(line): function`, the path is made relative as by `without_place`.
CREATE MACRO frame_without_place(name, directory) AS CASE
    WHEN regexp_matches(name, '^([/\\~]|\.\.[/\\]|[A-Za-z]+:[/\\]).*\(\d+\): ')
        THEN concat(
            without_place(regexp_extract(name, '^(.*)\(\d+\): ', 1), directory),
            regexp_extract(name, '\(\d+\): .*$')
        )
    ELSE name
END;
