-- `are_lower_bounds(known_percent)`: whether so little work is known that utilisation and rates are
-- lower bounds, which must not be compared.
CREATE MACRO are_lower_bounds(known_percent) AS coalesce(known_percent < 90, TRUE);
