-- What the host did in each of a number of equal stretches of time, for timelines that zoom:
-- `host_occupancy(run, of_rank, since_ns, until_ns, bins)`, in Unix time. All threads are taken
-- together: time in which several worked counts once. The rest of a stretch is without operators.
-- One row: a part of one stretch.
--
-- bin       number of the stretch, from 0
-- start_ns  Unix time at which the stretch begins, ns
-- end_ns    at which it ends, ns
-- part      compute, while an operator ran; dataloader, while a data loader but no operator did;
--           compile, while only torch.compile did
-- part_ns   time in it, ns
-- percent   of the stretch, 0 to 100
CREATE MACRO host_occupancy(run, of_rank, since_ns, until_ns, bins) AS TABLE
    WITH
    frame AS (
        SELECT
            since_ns::BIGINT AS begin_ns,
            greatest(1, ceil((until_ns::BIGINT - since_ns::BIGINT) / bins))::BIGINT AS bin_ns
    ),

    work AS (
        SELECT kind, start_ns, start_ns + dur_ns AS end_ns
        FROM top_ops, frame
        WHERE
            run_id = run
            AND rank = of_rank
            AND start_ns < begin_ns + bin_ns * bins
            AND start_ns + dur_ns > begin_ns
    ),

    edges AS (
        SELECT start_ns AS edge_ns, kind, 1 AS change FROM work
        UNION ALL
        SELECT end_ns AS edge_ns, kind, -1 AS change FROM work
    ),

    -- How much of each kind runs after each edge.
    running AS (
        SELECT
            edge_ns,
            lead(edge_ns) OVER (ORDER BY edge_ns) AS next_ns,
            coalesce(sum(sum(change) FILTER (WHERE kind = 'operator')) OVER up_to, 0)
                AS computing,
            coalesce(sum(sum(change) FILTER (WHERE kind = 'dataloader')) OVER up_to, 0)
                AS loading,
            sum(sum(change)) OVER up_to AS active
        FROM edges
        GROUP BY edge_ns
        WINDOW up_to AS (ORDER BY edge_ns)
    ),

    cut AS (
        SELECT
            CASE
                WHEN running.computing > 0 THEN 'compute'
                ELSE idle_cause(step_part_rules(
                    is_late := TRUE,
                    is_loading := running.loading > 0,
                    is_compiling := running.loading = 0
                ))
            END AS part,
            greatest(running.edge_ns, frame.begin_ns) - frame.begin_ns AS start_ns,
            least(running.next_ns, frame.begin_ns + frame.bin_ns * bins) - frame.begin_ns
                AS end_ns,
            frame.bin_ns
        FROM running, frame
        WHERE running.active > 0
    ),

    placed AS (
        SELECT *, unnest(range(start_ns // bin_ns, (end_ns - 1) // bin_ns + 1)) AS bin
        FROM cut
        WHERE end_ns > start_ns
    )

    SELECT
        bin,
        since_ns::BIGINT + bin * any_value(bin_ns) AS start_ns,
        since_ns::BIGINT + (bin + 1) * any_value(bin_ns) AS end_ns,
        part,
        sum(least(end_ns, (bin + 1) * bin_ns) - greatest(start_ns, bin * bin_ns))::BIGINT
            AS part_ns,
        100.0 * part_ns / any_value(bin_ns) AS percent
    FROM placed
    GROUP BY bin, part;
