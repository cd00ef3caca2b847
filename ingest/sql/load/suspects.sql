-- Events of source $source_id that may hold a secret, by the patterns $in_name and $in_args.
--
-- Names repeat, so each is looked at once: materialized, or DuckDB filters before it is distinct.
-- Python frames are most of a large trace, and their arguments numbers: no text, no secret.
WITH
names AS MATERIALIZED (
    SELECT DISTINCT name FROM staged WHERE source_id = $source_id
),

suspect_names AS (
    SELECT name FROM names WHERE regexp_matches(name, $in_name)
)

SELECT event_id, name, args::VARCHAR AS args
FROM staged
WHERE
    source_id = $source_id
    AND (
        name IN (FROM suspect_names)
        OR (
            (
                coalesce(category, '') <> 'python_function'
                OR contains(args, ':"') OR contains(args, '["')
            )
            AND regexp_matches(args, $in_args)
        )
    );
