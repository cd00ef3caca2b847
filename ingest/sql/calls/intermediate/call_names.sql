-- Names of the events that nest on threads.
-- One row: a name in a category. `name` is as recorded, `torch_name` as in torch's tables.
-- `name_id` identifies `torch_name` without memory addresses, which change between runs. It is the
-- same in every run, and 0 for calls that torch leaves out of its tables. `module_name_id` equals
-- `name_id` for nn.Modules and is 0 for others. `name_number` is valid in this run only.
-- Materialised: several relations read it.
WITH
recorded AS (SELECT DISTINCT category, name FROM complete WHERE side = 'host'),

renamed AS (SELECT *, torch_name(name, category) AS torch_name FROM recorded),

identified AS (
    SELECT
        *,
        CASE
            WHEN is_profiler_call(name) THEN 0
            ELSE greatest(
                1,
                md5_number_lower(concat_ws(
                    ' ', category, without_address(torch_name)
                )) >> 1
            )
        END::BIGINT AS name_id
    FROM renamed
)

SELECT
    row_number() OVER ()::INTEGER AS name_number,
    category,
    name,
    torch_name,
    name_id,
    if(is_module(name), name_id, 0) AS module_name_id
FROM identified;
