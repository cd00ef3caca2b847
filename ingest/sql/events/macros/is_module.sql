-- `is_module(name)`: whether a Python frame of a trace is an nn.Module.
CREATE MACRO is_module(name) AS name LIKE 'nn.Module: %';
