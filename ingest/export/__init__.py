"""Export of runs to the file formats of other tools."""
