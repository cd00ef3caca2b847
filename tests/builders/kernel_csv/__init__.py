"""A small input format for tests: kernels as CSV, with the launches and a counter."""

from ingest.formats import Format, Loader
from tests.builders.kernel_csv.recognition import is_kernel_csv

KERNEL_CSV = Format(
    "kernel_csv",
    noun="row",
    encoding="CSV",
    suffix=r"\.csv",
    recognise=is_kernel_csv,
    load=Loader("tests.builders.kernel_csv"),
    has_events=True,
    framework="none",
)
