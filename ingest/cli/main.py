"""The entry of the command `ingest`: its signals, its streams, and what becomes of errors."""

import errno
import gc
import io
import os
import sys
import warnings

from ingest.signals import ending, interruptible


def command() -> None:
    """Entry point: runs `main` and ends the process.

    After a success it skips Python's own shutdown, which takes 50 ms and only frees memory.
    """
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    os._exit(0)


def main() -> None:
    """Runs a command: errors for the user become one line on stderr and an exit code."""
    gc.disable()  # nothing that is imported can be freed
    with ending():  # importing takes a quarter of a second and leaves nothing to clean up
        import duckdb

        from ingest.cli.commands import app
        from ingest.errors import IngestError
        from ingest.store.faults import StoreWarning
        from ingest.terminal import say_error, say_warning
    gc.enable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a name
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
                raise  # a command that ends well, such as `open` on Ctrl-C
            if received:
                print(f"error: stopped ({received[0].name})", file=sys.stderr)
                sys.exit(128 + received[0])
            if isinstance(error, OSError) and not error.filename:  # writing: stdout has no name
                _leave_stdout()
                if error.errno != errno.EPIPE:
                    say_error(f"stdout: {error.strerror}")
            elif isinstance(error, IngestError | duckdb.Error):  # a file may be damaged
                say_error(error)
            else:
                raise
            sys.exit(1)


def _leave_stdout() -> None:
    """Python would try once more to write what is left, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
