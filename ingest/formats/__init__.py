"""Input formats: one package each, which turns a file into rows of the scratch database."""
