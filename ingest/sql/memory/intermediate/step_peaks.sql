-- The most memory in use in each step.
-- One row: a device in a step of an input file, as in `memory_peaks`.
FROM memory_peaks('step_stretches');
