-- `bound_of(roofline_ns, peak_ns, bandwidth_ns, work_ns, launch_ns)`: what bounds the rows of a
-- group together, as `bound_by` says. Rows without a roofline do not count.
CREATE MACRO bound_of(roofline_ns, peak_ns, bandwidth_ns, work_ns, launch_ns) AS if(
    sum(roofline_ns) IS NULL,
    NULL,
    bound_by(
        sum(peak_ns) FILTER (WHERE roofline_ns IS NOT NULL),
        sum(bandwidth_ns) FILTER (WHERE roofline_ns IS NOT NULL),
        sum(work_ns) FILTER (WHERE roofline_ns IS NOT NULL),
        sum(launch_ns) FILTER (WHERE roofline_ns IS NOT NULL)
    )
);
