"""The table at the end of `docs/capture.md`: the keys of `run.json`."""

from capture.output.run_json import KEYS
from docs.generate.markdown import cell

HEAD = "| key | meaning |\n| --- | --- |\n"


def with_keys(text: str) -> str:
    """Return `text` with the table at its end replaced."""
    rows = [f"| {key} | {cell(meaning)} |\n" for key, meaning in KEYS.items()]
    return text.partition(HEAD)[0] + HEAD + "".join(rows)
