"""Recognition of kernels as CSV."""

HEADER = b"side,name,place,start_ns,dur_ns,correlation,grid,registers,busy_percent\n"


def is_kernel_csv(head: bytes) -> bool:
    """Return whether the file begins with the names of the columns."""
    return head.startswith(HEADER)
