-- Whether a device of a run is the one that comparisons take: the slowest of the run; with a rank,
-- the slowest of that. The last three arguments are columns of `run_metrics`.
CREATE MACRO is_compared(wanted_rank, rank, slowest, slowest_of_rank) AS
if(wanted_rank IS NULL, slowest, rank = wanted_rank AND slowest_of_rank);
