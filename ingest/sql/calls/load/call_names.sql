-- The names of the events that nest on a thread.
-- One row: a name of a category. `name` is as recorded, `torch_name` as in torch's tables.
-- `name_id` stands for the latter without addresses, which change from run to run; it is the same
-- in every run, and 0 for what torch leaves out of its tables. `module_name_id` is the same, but 0
-- for what is no nn.Module. `name_number` is of this run alone.
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
