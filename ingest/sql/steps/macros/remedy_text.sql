-- `remedy_text(remedies, features)`: what to try, as sentences. `remedies` is a list of structs
-- with the fields `text` and `unless`. A remedy is left out if `unless` and `features` share a code
-- of `run_features`.
CREATE MACRO remedy_text(remedies, features) AS array_to_string(
    list_transform(
        list_filter(
            remedies,
            LAMBDA remedy: NOT coalesce(list_has_any(remedy.unless, features), FALSE)
        ),
        LAMBDA remedy: remedy.text
    ),
    ' '
);
