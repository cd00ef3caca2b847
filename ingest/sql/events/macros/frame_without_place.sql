-- `frame_without_place(name, directory)`: the name of an event for `--redact-paths`. If the name is
-- that of a Python frame with a path, `path(line): function`, the path is made relative as in
-- `without_place`.
CREATE MACRO frame_without_place(name, directory) AS CASE
    WHEN regexp_matches(name, '^([/\\~]|\.\.[/\\]|[A-Za-z]+:[/\\]).*\(\d+\): ')
        THEN concat(
            without_place(regexp_extract(name, '^(.*)\(\d+\): ', 1), directory),
            regexp_extract(name, '\(\d+\): .*$')
        )
    ELSE name
END;
