-- Whether a comparison uses a device of a run: the default device of the run, or the slowest one of
-- the rank if one is given. The last three arguments are columns of `run_metrics`.
CREATE MACRO is_compared(wanted_rank, rank, is_default, is_slowest_of_rank) AS
if(wanted_rank IS NULL, is_default, rank = wanted_rank AND is_slowest_of_rank);
