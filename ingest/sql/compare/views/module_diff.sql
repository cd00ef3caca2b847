-- Two runs by nn.Module: `module_diff(base, other, rank := NULL, nth_step := NULL)`. Of each run
-- its median step counts, or the one that `nth_step` names; without steps the whole recording. The
-- rows add up to the work in both; the `whole` columns hold that of the modules inside as well.
-- One row: a module, by the classes of the modules around it.
--
-- module             path of modules, outermost first, without their numbers; empty for what is in
--                    no module, or in several that have none in common
-- name               the last of them
-- parent             path of those around it; null for the outermost
-- base_calls         calls of operators in it, but in no module inside, in the first run
-- other_calls        in the second
-- base_ns            time of these in the first run, ns
-- other_ns           in the second
-- change_ns          second less first
-- percent            change, of the first; null where that is 0
-- whole_base_calls   calls of operators in it and the modules inside, in the first run
-- whole_other_calls  in the second
-- whole_base_ns      time of these in the first run, ns
-- whole_other_ns     in the second
CREATE MACRO module_diff(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    own AS (
        SELECT
            coalesce(module, '') AS module,
            sum(base_calls)::BIGINT AS base_calls,
            sum(other_calls)::BIGINT AS other_calls,
            sum(base_ns)::BIGINT AS base_ns,
            sum(other_ns)::BIGINT AS other_ns
        FROM op_diff(base, other, rank := rank, nth_step := nth_step)
        GROUP BY coalesce(module, '')
    ),

    inside AS (
        SELECT
            *,
            unnest([
                array_to_string(string_split(module, '/')[:depth], '/')
                FOR depth IN range(1, len(string_split(module, '/')) + 1)
            ]) AS around
        FROM own
    ),

    sums AS (
        SELECT
            around AS module,
            coalesce(sum(base_calls) FILTER (WHERE module = around), 0)::BIGINT AS base_calls,
            coalesce(sum(other_calls) FILTER (WHERE module = around), 0)::BIGINT AS other_calls,
            coalesce(sum(base_ns) FILTER (WHERE module = around), 0)::BIGINT AS base_ns,
            coalesce(sum(other_ns) FILTER (WHERE module = around), 0)::BIGINT AS other_ns,
            sum(base_calls)::BIGINT AS whole_base_calls,
            sum(other_calls)::BIGINT AS whole_other_calls,
            sum(base_ns)::BIGINT AS whole_base_ns,
            sum(other_ns)::BIGINT AS whole_other_ns
        FROM inside
        GROUP BY around
    )

    SELECT
        module,
        string_split(module, '/')[-1] AS name,
        CASE
            WHEN contains(module, '/') THEN array_to_string(string_split(module, '/')[:-2], '/')
        END AS parent,
        base_calls,
        other_calls,
        base_ns,
        other_ns,
        other_ns - base_ns AS change_ns,
        percent_change(other_ns - base_ns, base_ns) AS percent,
        whole_base_calls,
        whole_other_calls,
        whole_base_ns,
        whole_other_ns
    FROM sums;
