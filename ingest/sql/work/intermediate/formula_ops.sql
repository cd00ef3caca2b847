-- The operators of the run that have a formula.
-- One row: a name of an operator.
-- Materialised in small runs: planning the formulas takes longer than reading the rows.
SELECT op.name, listed.formula
FROM (SELECT DISTINCT name FROM complete WHERE category = 'cpu_op') AS op
INNER JOIN (SELECT unnest(operators) AS name, formula FROM formulas) AS listed
    ON formula_name(op.name) = listed.name;
