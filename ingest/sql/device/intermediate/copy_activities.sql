-- Device activities that are memory copies and memsets, as input of `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE class = 'copy';
