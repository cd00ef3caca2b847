-- Stacks in memory snapshots. Each distinct stack is stored once.
-- One row: a stack.
--
-- run_id      the run
-- stack_id    number of the stack in the run
-- user_frame  line of the user's code, `file:line function`: the innermost Python frame outside of
--             installed packages, the standard library and `capture`. If there is none, it is the
--             innermost frame of a package other than torch, or else the innermost Python frame. A
--             stack without Python has `autograd NODE` in a backward pass, or else `operator NAME`,
--             or else the innermost frame outside of the allocator
-- module      code of the innermost nn.Module in the stack, `package.file` or `file function`; null
--             if no frame shows one
-- frame_ids   frames of the stack (`frames.frame_id`), innermost first
SELECT stack_id, stack_labels.user_frame, stack_labels.module, staged_stacks.frame_ids
FROM staged_stacks
INNER JOIN stack_labels USING (stack_id);
