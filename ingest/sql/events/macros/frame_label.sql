-- `frame_label(function, file, line)`: a frame for people: function, file and line; of installed
-- packages the path inside the package.
CREATE MACRO frame_label(function, file, line) AS nullif(concat(
    function,
    ' (' || regexp_replace(file, '^(?:.*[/\\])?(?:site|dist)-packages[/\\]', '')
    || coalesce(':' || line, '') || ')'
), '');
