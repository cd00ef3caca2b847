-- Stacks in memory snapshots, each distinct one once.
-- One row: a stack.
--
-- run_id      the run
-- stack_id    number of the stack in the run
-- user_frame  line of the user's code, `file:line function`: the innermost frame in the user's own
--             Python, else the innermost Python frame; without Python, `autograd NODE` in a
--             backward pass, else `operator NAME`, else the innermost frame outside of the
--             allocator
-- module      code of the innermost nn.Module in it, `package.file` or `file function`; null where
--             no frame shows one
-- frame_ids   its frames (`frames.frame_id`), innermost first
SELECT stack_id, stack_labels.user_frame, stack_labels.module, staged_stacks.frame_ids
FROM staged_stacks
INNER JOIN stack_labels USING (stack_id);
