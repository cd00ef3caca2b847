-- `ends_together(kind)`: whether a collective of a kind ends on all ranks at the same time, because
-- each rank needs data of all others.
CREATE MACRO ends_together(kind) AS
kind IN ('all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier');
