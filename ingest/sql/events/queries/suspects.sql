-- Events of source $source_id that may hold a secret, by the patterns $in_name and $in_args.
--
-- Names repeat, and so do categories, processes and threads, so each is looked at once:
-- materialized, or DuckDB filters before it is distinct. Python frames are most of a large trace,
-- and their arguments numbers: no text, no secret.
WITH
names AS MATERIALIZED (
    SELECT DISTINCT name FROM staged WHERE source_id = $source_id
),

suspect_names AS (
    SELECT name FROM names WHERE regexp_matches(name, $in_name)
),

labels AS MATERIALIZED (
    SELECT DISTINCT category, older_category, pid, tid FROM staged WHERE source_id = $source_id
),

suspect_labels AS (
    SELECT labels.*
    FROM labels
    WHERE regexp_matches(concat_ws(chr(10), category, older_category, pid, tid), $in_name)
)

SELECT event_id, name, category, older_category, pid, tid, id, args::VARCHAR AS args
FROM staged
WHERE
    source_id = $source_id
    AND (
        name IN (FROM suspect_names)
        OR EXISTS (
            SELECT 1
            FROM suspect_labels
            WHERE
                staged.category IS NOT DISTINCT FROM suspect_labels.category
                AND staged.older_category IS NOT DISTINCT FROM suspect_labels.older_category
                AND staged.pid IS NOT DISTINCT FROM suspect_labels.pid
                AND staged.tid IS NOT DISTINCT FROM suspect_labels.tid
        )
        OR regexp_matches(id, $in_name)
        OR (
            (
                coalesce(category, '') <> 'python_function'
                OR contains(args, ':"') OR contains(args, '["')
            )
            AND regexp_matches(args, $in_args)
        )
    );
