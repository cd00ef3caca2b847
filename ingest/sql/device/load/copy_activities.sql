-- Device activities that are copies and sets, for `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE class = 'copy';
