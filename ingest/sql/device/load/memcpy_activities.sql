-- Device activities that are memory copies, for `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE kind = 'memcpy';
