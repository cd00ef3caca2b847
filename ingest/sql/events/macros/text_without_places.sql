-- `text_without_places(said, directory)`: a text with the paths in it made relative as by
-- `without_place`, as far as they hold no blanks.
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
