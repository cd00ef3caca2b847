-- Two runs side by side, by nn.Module: `module_diff(base, other, rank := NULL, nth_step := NULL)`.
-- It uses the median step of each run, or step number `nth_step`; for a run without steps, the
-- whole recording. The rows add up to the work of each run. The columns `whole_…` include the
-- modules inside.
-- One row: a module, identified by the classes of the modules around it.
--
-- module             path of module classes, outermost first, without the modules' numbers; empty
--                    for operators outside of modules, or in modules whose paths have no common
--                    beginning
-- name               class of the module: the last element of the path
-- parent             path of the module around it; null for an outermost module
-- base_calls         calls of operators in the module, but in no module inside it, in the first run
-- other_calls        calls of operators in the module, but in no module inside it, in the second
--                    run
-- base_ns            time of operators in the module, but in no module inside it, in the first run,
--                    ns
-- other_ns           time of operators in the module, but in no module inside it, in the second
--                    run, ns
-- change_ns
-- percent            change in percent of the first; null if that is 0
-- whole_base_calls   calls of operators in the module and the modules inside it, in the first run
-- whole_other_calls  calls of operators in the module and the modules inside it, in the second run
-- whole_base_ns      time of operators in the module and the modules inside it, in the first run,
--                    ns
-- whole_other_ns     time of operators in the module and the modules inside it, in the second run,
--                    ns
CREATE MACRO module_diff(base, other, rank := NULL, nth_step := NULL) AS TABLE
    WITH
    own AS (
        SELECT
            coalesce(module, '') AS module,
            sum(COLUMNS(['base_calls', 'other_calls', 'base_ns', 'other_ns']))::BIGINT
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
