-- `is_profiler_call(name)`: whether torch leaves calls of this name out of its tables. Source:
-- `_filter_name` of torch.autograd.profiler_util.
CREATE MACRO is_profiler_call(name) AS name IN (
    '[memory]', '[OutOfMemory]', 'profiler::_record_function_enter',
    'profiler::_record_function_enter_new', 'profiler::_record_function_exit', 'aten::is_leaf',
    'aten::output_nr', 'aten::_version'
);
