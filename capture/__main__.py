"""`python -m capture`: the same as the console script `capture`."""

from capture.cli.main import main

main()
