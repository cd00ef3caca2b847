-- The formulas of the work of operators.
-- One row: a formula, with the columns of `operator_formulas`.
FROM operator_formulas();
