-- Device activities that are communication kernels, for `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE class = 'communication';
