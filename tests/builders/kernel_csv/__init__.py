"""A small input format for tests: kernels as CSV, with the launches and a counter."""

from ingest.formats import Format, Loader
from tests.builders.kernel_csv.recognition import is_kernel_csv

# The device waits 300 ns for the host, and the second kernel runs on another stream.
CSV = """side,name,place,start_ns,dur_ns,correlation,grid,registers,busy_percent
host,launch,main,0,50,1,,,
device,gemm,0:7,100,400,1,8x4x1,64,90
host,launch,main,700,50,2,,,
device,relu,0:8,800,200,2,16x1x1,,50
"""

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
