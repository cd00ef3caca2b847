-- Operators of MegEngine that wait on a comp node for results of other comp nodes.
-- One row: an operator on a comp node.
SELECT
    source_id,
    opr_key,
    spec.key AS comp_node,
    try_cast(spec.value -> '$.dev_ready' AS VARCHAR[]) AS vars
FROM (
    SELECT
        source_id,
        opr_key,
        unnest(map_entries(try_cast(waiting_spec AS MAP (VARCHAR, JSON)))) AS spec
    FROM megengine_operators
    WHERE json_type(waiting_spec) = 'OBJECT'
)
WHERE len(vars) > 0;
