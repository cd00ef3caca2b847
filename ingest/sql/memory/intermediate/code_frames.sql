-- Frames of all stacks, with the name of the file and the kind of code.
-- One row: a frame.
-- Materialised: its regular expressions are slow, and several relations read it.
--
-- A function in `<string>` is one that a library wrote. The code of `python -c` is a `<module>`.
-- `is_package` is whether the frame is in an installed package that computes, such as diffusers.
-- `is_hook` is whether it is accelerate's, which calls the forward functions of other modules.
SELECT
    frame_id,
    name AS function,
    filename,
    try_cast(line AS BIGINT) AS line,
    other,
    regexp_extract(filename, '[^/\\]*$') AS basename,
    regexp_matches(filename, '\.py[cx]?$|^<ipython|ipykernel_|^<(stdin|string)>$') AS is_python,
    is_capture_frame(filename) OR regexp_matches(filename, concat(
        '(^|[/\\])((site|dist)-packages|lib(64)?[/\\]python[0-9.]+)[/\\]|',
        '(?i:[/\\]python[0-9.]*[/\\]lib[/\\])|',
        '(^|[/\\])torch[/\\](nn|_dynamo|_inductor|_functorch|autograd|optim|utils|cuda|',
        'profiler|_[a-z_]+)[/\\]|torchinductor_|^<frozen|^<eval_with_key>'
    )) OR (filename = '<string>' AND function <> '<module>') AS is_library,
    regexp_matches(filename, '[/\\]accelerate[/\\]hooks\.py$') AS is_hook,
    regexp_matches(filename, '(site|dist)-packages[/\\]') AND NOT (
        is_hook
        OR is_capture_frame(filename)
        OR regexp_matches(filename, '(site|dist)-packages[/\\]torch[/\\]')
    ) AS is_package,
    regexp_extract(
        replace(filename, '\', '/'), '(?:site-packages|dist-packages)/(.*)\.py$', 1
    ) AS module_path
FROM staged_frames;
