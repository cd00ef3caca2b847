-- Device activities that are memory sets, for `islands`.
-- One row: an activity, as in `kernels`.
SELECT * FROM kernels WHERE kind = 'memset';
