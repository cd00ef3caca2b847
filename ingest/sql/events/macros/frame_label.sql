-- `frame_label(function, file, line)`: a readable name of a frame: function, file and line. The
-- path of a file of an installed package starts with the package: `torch/nn/modules/linear.py`.
CREATE MACRO frame_label(function, file, line) AS nullif(concat(
    function,
    ' (' || regexp_replace(file, '^(?:.*[/\\])?(?:site|dist)-packages[/\\]', '')
    || coalesce(':' || line, '') || ')'
), '');
