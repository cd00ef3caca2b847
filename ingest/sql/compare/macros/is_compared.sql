-- Whether a device of a run is the one that comparisons take: the slowest of the run; with a rank,
-- the slowest of that. The last three arguments are columns of `run_metrics`.
CREATE MACRO is_compared(wanted_rank, rank, is_slowest, is_slowest_of_rank) AS
if(wanted_rank IS NULL, is_slowest, rank = wanted_rank AND is_slowest_of_rank);
