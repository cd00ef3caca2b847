-- Paths without what they tell of a machine and its users, for `--redact-paths`: relative to
-- installed packages, to Python's own library, or to the working directory; of any other place the
-- file's name alone.
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

-- A text with such paths in it, as far as they hold no blanks.
CREATE MACRO text_without_places(said, directory) AS regexp_replace(
    regexp_replace(
        regexp_replace(
            regexp_replace(
                regexp_replace(
                    said,
                    '(?:[A-Za-z]:)?(?:[/\\][^\s/\\"''():]+)*[/\\]((?:site|dist)-packages[/\\])',
                    '\1', 'g'
                ),
                '(?:[/\\][^\s/\\"''():]+)*[/\\](lib(?:64)?[/\\]python[0-9.]+[/\\])', '\1', 'g'
            ),
            concat('(^|[\s"''(=])', regexp_escape(directory), '/'), '\1', 'g'
        ),
        '(^|[\s"''(=])(?:~|\.\.|[A-Za-z]:)?(?:/[^\s/"''():]+)+/([^\s/"''():]+)', '\1\2', 'g'
    ),
    '(^|[\s"''(=])[A-Za-z]:(?:\\[^\s\\"''():]+)+\\([^\s\\"''():]+)', '\1\2', 'g'
);
