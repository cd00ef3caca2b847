-- `without_place(path, directory)`: a path without information about a machine and its users, for
-- `--redact-paths`. The path is made relative to installed packages, to Python's standard library,
-- or to the working directory. For any other absolute path, only the file name remains.
CREATE MACRO without_place(path, directory) AS CASE
    WHEN regexp_matches(path, '[/\\](site|dist)-packages[/\\]')
        THEN regexp_replace(path, '^.*[/\\]((site|dist)-packages[/\\])', '\1')
    WHEN regexp_matches(path, '[/\\]lib(64)?[/\\]python[0-9.]+[/\\]')
        THEN regexp_replace(path, '^.*[/\\](lib(64)?[/\\]python[0-9.]+[/\\])', '\1')
    WHEN starts_with(path, directory || '/') THEN path[length(directory) + 2:]
    WHEN regexp_matches(path, '^([/\\~]|\.\.[/\\]|[A-Za-z]+:[/\\])')
        THEN regexp_extract(path, '[^/\\]*$')
    ELSE path
END;
