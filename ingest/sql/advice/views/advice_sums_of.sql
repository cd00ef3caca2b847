-- Part of `advice_checks` and `advice_of_steps`: the sums of facts over some steps:
-- `advice_sums_of(facts)`, with the name of a relation that has the rows of `advice_facts` of these
-- steps.
-- One row: a kind of advice for which there are facts, for a device of a rank, or for its host.
--
-- run_id, device_id, rank, device
-- kind              kind of advice, as in `advice_kinds`
-- calls             number of kernels for `small_kernels`, of operator calls for `float_matmul`
-- work_ns
-- saved_ns          sum of `saved_ns` of the facts, ns; null if none has it
-- idle_ns           idle time that counts in this kind, ns
-- late_ns
-- waiting_ns        time in which the rank waited in collectives, ns; null if unknown
-- name              name with the longest time
-- named_ns
-- gain_ns           sum of the gains on the critical paths of the steps, ns; null if there are none
CREATE MACRO advice_sums_of(facts) AS TABLE
    WITH
    names AS (
        SELECT
            run_id,
            device_id,
            fact.rank,
            device,
            kind,
            name,
            sum(COLUMNS([
                'calls', 'work_ns', 'saved_ns', 'idle_ns', 'late_ns', 'waiting_ns'
            ]))::BIGINT,
            coalesce(sum(named_ns), 0)::BIGINT AS named_ns,
            sum(gain_ns)::BIGINT AS gain_ns
        FROM query_table(facts) AS fact
        GROUP BY ALL
    )

    SELECT
        run_id,
        device_id,
        names.rank,
        device,
        kind,
        sum(calls)::BIGINT AS calls,
        coalesce(sum(work_ns), 0)::BIGINT AS work_ns,
        sum(saved_ns)::BIGINT AS saved_ns,
        coalesce(sum(idle_ns), 0)::BIGINT AS idle_ns,
        coalesce(sum(late_ns), 0)::BIGINT AS late_ns,
        sum(waiting_ns)::BIGINT AS waiting_ns,
        arg_max(name, (named_ns, name)) AS name,
        max(named_ns) FILTER (WHERE name IS NOT NULL) AS named_ns,
        sum(gain_ns)::BIGINT AS gain_ns
    FROM names
    GROUP BY ALL;
