"""Write the generated pages of the docs.

python -m docs.generate            the pages that come from the code: the data dictionary, the
                                   graph of the SQL, the command line, the keys of `run.json`
python -m docs.generate SAMPLES    also the results of the commands and queries on the pages,
                                   from the sample profiles in this folder
"""

import sys
from pathlib import Path

from docs.generate import examples, pages
from docs.generate.command_line import command_line
from docs.generate.dictionary import data_dictionary
from docs.generate.run_json import with_keys
from docs.generate.sql_graph import sql_graph


def main() -> None:
    """Write the pages."""
    pages.write("data_dictionary.md", data_dictionary())
    pages.write("sql_graph.md", sql_graph())
    pages.write("command_line.md", command_line())
    pages.write("capture.md", with_keys(pages.read("capture.md")))
    if len(sys.argv) > 1:
        for page in examples.RUNS:
            text = examples.page_with_results(page, pages.read(page), Path(sys.argv[1]))
            pages.write(page, text)


if __name__ == "__main__":
    main()
