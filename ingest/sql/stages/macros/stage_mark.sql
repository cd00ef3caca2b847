-- `stage_mark(name)`: the kind of a label that `capture` puts around the work of a diffusers
-- pipeline: `pipeline` for a call, `stage` or `block`; null for other annotations.
CREATE MACRO stage_mark(name) AS CASE
    WHEN name IN ('stage: encode', 'stage: denoise', 'stage: decode') THEN 'stage'
    WHEN starts_with(name, 'pipeline: ') THEN 'pipeline'
    WHEN starts_with(name, 'block: ') THEN 'block'
END;
