-- The formulas of the work of operators.
-- One row: a formula, with the columns of `operator_formulas`.
-- Materialised: planning its lists takes longer than reading the rows, which are always the same.
FROM operator_formulas();
