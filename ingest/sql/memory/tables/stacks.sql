-- Stacks in memory snapshots, each distinct one once.
-- One row: a stack.
--
-- run_id     the run
-- stack_id   number of the stack in the run
-- site       `file:line function` of its innermost frame in the user's own Python, else of its
--            innermost Python frame; without Python, `autograd NODE` in a backward pass, else
--            `operator NAME`, else the innermost frame outside of the allocator
-- module     code of the innermost nn.Module in it, `package.file` or `file function`; null where
--            no frame shows one
-- frame_ids  its frames, innermost first
SELECT stack_id, stack_sites.site, stack_sites.module, staged_stacks.frame_ids
FROM staged_stacks
INNER JOIN stack_sites USING (stack_id);
