"""All pages on the recordings in this repository, which need no samples."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

import ingest
from tests.helpers.recorded import COMPILED, DEVICE, EAGER, NETWORK, SNAPSHOT, TWO_RANKS

# The runs of pages that show more than one kind. The others show `EAGER`.
SHOWN = {
    "overview": [[EAGER], [DEVICE]],
    "operators": [[COMPILED], [DEVICE], [NETWORK]],
    "kernels": [[EAGER], [DEVICE]],
    "roofline": [[EAGER], [DEVICE], [EAGER, DEVICE]],
    "bubbles": [[DEVICE]],
    "streams": [[DEVICE]],
    "ranks": [[TWO_RANKS], [DEVICE]],
    "timeline": [[TWO_RANKS]],
    "memory": [[EAGER], [SNAPSHOT]],
    "advice": [[DEVICE]],
    "compare": [[EAGER, TWO_RANKS]],
}


def test_every_page_shows_the_recordings(
    app: Callable[..., AppTest], page_hashes: dict[str, str], recorded_store: Path
) -> None:
    app(recorded_store, "runs")  # finds all pages
    run_of = ingest.Store(recorded_store).find
    for page in page_hashes:
        for names in SHOWN.get(page, [[EAGER]]):
            shown = app(recorded_store, page, run=[run_of(name) for name in names])
            assert not shown.exception, (page, names)
            errors = 1 if names == [SNAPSHOT] else 0  # its program ran out of memory
            assert len(shown.error) == errors, (page, names)
