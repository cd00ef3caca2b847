-- `copy_kind(name)`: the kind of a copy or memset without the types of memory: `Memcpy HtoD` for
-- `Memcpy HtoD (Pageable -> Device)`.
CREATE MACRO copy_kind(name) AS trim(split_part(name, '(', 1));
