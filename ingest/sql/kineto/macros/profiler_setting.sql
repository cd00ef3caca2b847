-- `profiler_setting(metadata, path)`: on if the metadata of a trace has 1 at this path, otherwise
-- off.
CREATE MACRO profiler_setting(metadata, path) AS if(
    json_extract_string(metadata, path) = '1', 'on', 'off'
);
