-- `graph_place(ordinal, kind := '', kernel := '')`: the position of a kernel, copy or memset in a
-- graph, or among those of the same kind and name.
CREATE MACRO graph_place(ordinal, kind := '', kernel := '') AS struct_pack(
    kind := kind, kernel := coalesce(kernel, ''), ordinal := ordinal
);
