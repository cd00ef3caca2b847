-- `ranks_with(all_ranks, roles, role)`: those of the ranks that have a role. `roles` has the role
-- of each rank, in order.
CREATE MACRO ranks_with(all_ranks, roles, role) AS list_where(
    all_ranks, list_transform(roles, LAMBDA each: each = role)
);
