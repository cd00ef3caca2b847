"""The entry point of the command `ingest`: signals, streams and error messages."""

import errno
import gc
import io
import os
import sys
import warnings

from ingest.signals import ending, interruptible


def command() -> None:
    """Run `main` and end the process.

    After a success this skips Python's shutdown, which takes 50 ms and only frees memory.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy starts threads that nothing uses
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    os._exit(0)


def main() -> None:
    """Run a command. An error for the user becomes one line on stderr and an exit code."""
    gc.disable()  # imported modules are never freed
    with ending():  # imports take a quarter of a second and leave nothing to clean up
        import duckdb

        from ingest.cli.app import app
        from ingest.cli.terminal import say_error, say_warning
        from ingest.errors import IngestError
        from ingest.store.faults import StoreWarning
    gc.enable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # the terminal may lack a name's characters
    warnings.simplefilter("always", StoreWarning)
    warnings.showwarning = say_warning
    with interruptible() as received:
        try:
            try:
                app()
            finally:
                sys.stdout.flush()
        except BaseException as error:
            if isinstance(error, SystemExit) and not error.code:
                raise  # the command succeeded, such as `open` after Ctrl-C
            if received:
                print(f"error: stopped ({received[0].name})", file=sys.stderr)
                sys.exit(128 + received[0])
            if isinstance(error, OSError) and not error.filename:  # only stdout has no file name
                _leave_stdout()
                if error.errno != errno.EPIPE:
                    say_error(f"stdout: {error.strerror}")
            elif isinstance(error, IngestError | duckdb.Error):  # DuckDB: a damaged file
                say_error(error)
            else:
                raise
            sys.exit(1)


def _leave_stdout() -> None:
    """Send stdout to /dev/null.

    Otherwise Python tries to flush stdout again when it exits, and prints an error.
    """
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, sys.stdout.fileno())
