-- `text_without_places(message, directory)`: a text with the paths in it made relative as in
-- `without_place`. A path with spaces is not recognised beyond the first space.
CREATE MACRO text_without_places(message, directory) AS regexp_replace(
    regexp_replace(
        regexp_replace(
            regexp_replace(
                regexp_replace(
                    message,
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
