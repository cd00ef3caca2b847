-- Device activities that are communication kernels, as input of `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE class = 'communication';
