-- Stacks of the snapshots and flight recorder dumps of the run. Each distinct stack is stored once.
-- One row: a stack.
CREATE TABLE staged_stacks (stack_id INTEGER, frame_ids INTEGER[]);
