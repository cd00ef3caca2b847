-- `operator_formulas()`: the formulas of the work of operators. Everything about work derives from
-- these lists. To add a formula, add a row to one of them and a case to the tests.
--
-- kind           product, convolution, attention, norm, softmax, elementwise, optimizer, rotary,
--                reduction, gather, copy or fused
-- formula        its name
-- operators      names of operators that it holds for. An elementwise operator also has a form that
--                writes its first argument: `aten::mul_`. If the result may differ from that
--                argument, the form has a formula of its own: `binary_in_place`
-- operand        the argument, from 1, whose type the operator computes in
-- flops          floating-point operations, as SQL; a multiplication and an addition are two. Null
--                if they cannot be computed from what is recorded, and so are the next two
-- bytes_read     bytes read at least, as SQL
-- bytes_written  bytes written at least, as SQL
-- bytes_at_most  upper bound of all bytes, as SQL, where reading and writing are not known apart
-- requires       what must hold, as SQL; otherwise the work is unknown
-- source         where the formula comes from
-- assumes        what it assumes
--
-- The lists also say how many `arguments` operators of torch have at most, with `out`. That becomes
-- part of `requires`: old traces of TorchScript record the whole stack of its interpreter instead.
--
-- The SQL describes the arguments of a call by lists with an entry for each argument, from 1:
--
-- d  shape (DOUBLE[]), `[]` for a number; null for anything else
-- n  number of elements; of a list of tensors, of all
-- b  bytes; elements that a stride of 0 repeats count once, and a number has none
-- s  size of an element, bytes; null for a number
-- c  value as text, if it is no tensor
-- t  type, as recorded; empty for an argument that is not given
-- y  type as torch names it: `bfloat16`; null if it is none of torch's
CREATE MACRO operator_formulas() AS TABLE
    WITH formulas AS (
        SELECT
            * EXCLUDE (arguments)
            REPLACE (
                string_split_regex(operators, '\s+') AS operators,
                nullif(concat_ws(' AND ', requires, 'len(d) <= ' || arguments), '') AS requires
            )
        FROM (
            FROM product_formulas()
            UNION ALL BY NAME
            FROM convolution_formulas()
            UNION ALL BY NAME
            FROM attention_formulas()
            UNION ALL BY NAME
            FROM norm_formulas()
            UNION ALL BY NAME
            FROM elementwise_formulas()
            UNION ALL BY NAME
            FROM data_formulas()
            UNION ALL BY NAME
            FROM fused_formulas()
            UNION ALL BY NAME
            FROM fbgemm_formulas()
        )
    )

    SELECT
        * REPLACE (
            if(
                kind IN ('elementwise', 'optimizer')
                AND formula NOT IN ('predicate', 'binary', 'comparison', 'ternary'),
                list_concat(operators, list_transform(operators, LAMBDA op: op || '_')),
                operators
            ) AS operators
        )
    FROM formulas
    UNION ALL BY NAME
    SELECT
        * REPLACE (
            formula || '_in_place' AS formula,
            list_transform(operators, LAMBDA op: op || '_') AS operators,
            's[1] * n[1]' AS bytes_written,
            NULL AS assumes
        )
    FROM formulas
    WHERE formula IN ('predicate', 'binary', 'comparison', 'ternary');
