-- `takes_part(op)`: whether an operator of a lowered graph uses a part of a tensor. A kernel that
-- computes it may read less than all of an argument.
CREATE MACRO takes_part(op) AS op IN (
    'aten::_unsafe_index', 'aten::as_strided', 'aten::diagonal', 'aten::embedding', 'aten::gather',
    'aten::index', 'aten::index_put', 'aten::index_select', 'aten::scatter', 'aten::scatter_add',
    'aten::select', 'aten::select_scatter', 'aten::slice', 'aten::slice_scatter', 'aten::split',
    'aten::split_with_sizes', 'aten::unbind', 'aten::unfold'
);
