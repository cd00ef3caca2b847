-- `frame_label(function, file, line)`: a readable name of a frame: function, file and line. The
-- path of an installed package starts inside the package directory.
CREATE MACRO frame_label(function, file, line) AS nullif(concat(
    function,
    ' (' || regexp_replace(file, '^(?:.*[/\\])?(?:site|dist)-packages[/\\]', '')
    || coalesce(':' || line, '') || ')'
), '');
