-- The formulas of the work of operators, in a run that has operators.
-- One row: a formula, with the columns of `operator_formulas`.
-- Materialised: several relations read it, and planning the lists takes longer than reading rows.
SELECT listed.*
FROM operator_formulas() AS listed
WHERE EXISTS (SELECT 1 FROM complete WHERE category = 'cpu_op');
