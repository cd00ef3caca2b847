"""`python -m capture` runs the command line `capture`."""

from capture.cli.main import main

main()
