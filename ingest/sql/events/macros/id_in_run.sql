-- `id_in_run(source_id, number)`: an id that is unique in the run, from a number below 10¹² that is
-- unique in its input file. Events and allocator actions have such ids.
CREATE MACRO id_in_run(source_id, number) AS source_id::BIGINT * 1_000_000_000_000 + number;
