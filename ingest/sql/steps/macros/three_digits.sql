-- `three_digits(number)`: a number with three significant digits, and all digits before the decimal
-- point: `0.123`, `1,234`.
CREATE MACRO three_digits(number) AS CASE
    WHEN number = 0 THEN '0'
    WHEN abs(number) >= 99.95 THEN format('{:,.0f}', number)
    WHEN abs(number) >= 9.995 THEN format('{:.1f}', number)
    WHEN abs(number) >= 0.9995 THEN format('{:.2f}', number)
    ELSE format('{:.3f}', number)
END;
