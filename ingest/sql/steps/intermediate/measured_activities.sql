-- Device activities in the measured window of their device, or a host's operators in its window.
-- One row: an activity, as in `activities_in`.
-- Materialised: several relations read it.
SELECT * EXCLUDE (around), around.measure FROM activities_in('work_windows');
