-- The formulas of the work of operators, as SQL over the recorded inputs of a call. `n[1]` is the
-- number of elements of the first argument, `d` are shapes, `b` bytes, `s` bytes of an element, `c`
-- values and `t` types. Operators of MegEngine have no formula: their work in `op_work` is what its
-- profiler recorded.
-- One row: a formula.
--
-- kind               product, convolution, attention, norm, softmax, elementwise, optimizer,
--                    rotary, reduction, gather, copy or fused
-- formula            name of the formula
-- listed_ops         operators that it holds for; of generated kernels, the beginnings of their
--                    names
-- operand            the argument, from 1, whose type the operator computes in
-- flops_sql          floating-point operations; a multiplication and an addition are two. Null if
--                    what is recorded does not determine them, and so are the next two
-- bytes_read_sql     bytes read
-- bytes_written_sql  bytes written
-- bytes_at_most_sql  upper bound of all bytes, where reading and writing are not known apart
-- requires_sql       what must hold; otherwise the work is unknown
-- source             where the formula comes from
-- assumes            what it assumes or leaves out
SELECT
    kind,
    formula,
    operators AS listed_ops,
    operand,
    flops AS flops_sql,
    bytes_read AS bytes_read_sql,
    bytes_written AS bytes_written_sql,
    bytes_at_most AS bytes_at_most_sql,
    requires AS requires_sql,
    source,
    assumes
FROM operator_formulas();
