-- `without_address(name)`: the name of a Python object without its address in memory.
CREATE MACRO without_address(name) AS regexp_replace(name, ' at 0x[0-9a-fA-F]+', '', 'g');
