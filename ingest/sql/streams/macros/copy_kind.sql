-- `copy_kind(name)`: what a copy or set does, without the kinds of memory: `Memcpy HtoD` of
-- `Memcpy HtoD (Pageable -> Device)`.
CREATE MACRO copy_kind(name) AS trim(split_part(name, '(', 1));
