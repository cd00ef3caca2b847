-- Whether a comparison uses a device of a run: the slowest device of the run, or of the rank if one
-- is given. The last three arguments are columns of `run_metrics`.
CREATE MACRO is_compared(wanted_rank, rank, is_slowest, is_slowest_of_rank) AS
if(wanted_rank IS NULL, is_slowest, rank = wanted_rank AND is_slowest_of_rank);
