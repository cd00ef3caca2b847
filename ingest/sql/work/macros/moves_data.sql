-- `moves_data(op)`: whether a node of a lowered graph, an operator or `input`, only views, copies,
-- converts or creates data. It has no floating-point operations.
CREATE MACRO moves_data(op) AS op IN (
    'aten::alias', 'aten::as_strided', 'aten::clone', 'aten::constant_pad_nd', 'aten::copy',
    'aten::detach', 'aten::diagonal', 'aten::empty', 'aten::empty_like', 'aten::empty_strided',
    'aten::expand', 'aten::flip', 'aten::full', 'aten::full_like', 'aten::lift_fresh_copy',
    'aten::ones', 'aten::ones_like', 'aten::permute', 'aten::repeat', 'aten::reshape', 'aten::roll',
    'aten::scalar_tensor', 'aten::select', 'aten::select_scatter', 'aten::slice',
    'aten::slice_scatter', 'aten::split', 'aten::split_with_sizes', 'aten::squeeze', 'aten::t',
    'aten::transpose', 'aten::unbind', 'aten::unfold', 'aten::unsqueeze', 'aten::view',
    'aten::view_as_complex', 'aten::view_as_real', 'aten::zeros', 'aten::zeros_like',
    'aten::_to_copy', 'aten::_unsafe_index', 'aten::_unsafe_view', 'aten::index_put',
    'input', 'operator::getitem', 'prims::broadcast_in_dim', 'prims::convert_element_type',
    'prims::device_put', 'prims::inductor_force_stride_order', 'prims::inductor_lookup_seed',
    'prims::inductor_seed', 'prims::inductor_seeds', 'prims::iota', 'prims::view_element_type'
);
