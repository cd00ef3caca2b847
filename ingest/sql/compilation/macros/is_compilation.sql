-- `is_compilation(name)`: whether an operator is a phase of torch.compile.
CREATE MACRO is_compilation(name) AS regexp_matches(name, concat(
    '\(dynamo_timed\)$|^(dynamo|entire_frame_compile|backend_compile|compile_file|',
    'inductor_compile|compile_fx.*|_compile\.compile_inner|create_aot_dispatcher_function)$'
));
