-- `known_rates(rates)`: the entries of a map whose values are numbers above 0; an empty map if the
-- map is null.
CREATE MACRO known_rates(rates) AS coalesce(
    map_from_entries(list_filter(
        map_entries(rates), LAMBDA entry: positive(entry.value) IS NOT NULL
    )),
    map()::MAP (VARCHAR, DOUBLE)
);
