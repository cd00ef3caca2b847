-- Stacks in memory snapshots and in dumps of the flight recorder. Each distinct stack is stored
-- once.
-- One row: a stack.
--
-- run_id
-- stack_id    number of the stack in the run
-- user_frame  innermost line of the user's code, `file:line function`. A stack without one has the
--             innermost line of a package other than torch, or else of torch. A stack without
--             Python has `autograd NODE` in a backward pass, or else `operator NAME`, or else the
--             innermost frame outside of the allocator. Code in installed packages, the standard
--             library and `capture` is not the user's
-- module      code of the innermost nn.Module in the stack, `package.file` or `file function`; null
--             if no frame shows one
-- frame_ids   frames of the stack (`frames.frame_id`), innermost first
SELECT stack_id, stack_labels.user_frame, stack_labels.module, staged_stacks.frame_ids
FROM staged_stacks
INNER JOIN stack_labels USING (stack_id);
