"""The command `ingest open`."""

import os
import socket
import threading
import webbrowser
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

import typer

from ingest.cli.terminal import StoreOption, open_store, results
from ingest.errors import OutputError, ProfileError
from ingest.temporary import temporary_directory

HOST = "127.0.0.1"


def open_trace(
    file_or_run: Annotated[
        str,
        typer.Argument(metavar="FILE_OR_RUN", help="A trace file, or a run of the store."),
    ],
    step: Annotated[int | None, typer.Option(help="Only this step.")] = None,
    rank: Annotated[list[int] | None, typer.Option(help="Only this rank. Repeatable.")] = None,
    port: Annotated[int, typer.Option(help="Port of the server. 0 picks a free port.")] = 0,
    browser: Annotated[
        bool, typer.Option(help="Open a browser. --no-browser only prints the address.")
    ] = True,
    store: StoreOption = None,
) -> None:
    """Show a trace in Perfetto. Serve it to this machine until Ctrl-C."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.datastructures import QueryParams
    from starlette.middleware import Middleware

    from ingest.export.chrome import ChromeTrace
    from ingest.perfetto.files import check_trace, pieces
    from ingest.perfetto.guard import SiteGuard
    from ingest.perfetto.server import ShownTrace, trace_routes
    from ingest.perfetto.traces import trace_of
    from ingest.store.connection import connect
    from ingest.store.directory.store import Store
    from ingest.store.storage import Storage

    with ExitStack() as stack:
        file = Path(file_or_run)
        query = [("step", str(step))] * (step is not None) + [("rank", str(r)) for r in rank or []]
        if file.is_file():
            check_trace(file)
        elif file.is_dir():
            raise ProfileError(
                f"{file}: is a directory; add it with `ingest add`, then open the run"
            )
        elif file.suffix.lower() in (".json", ".gz"):
            raise ProfileError(f"{file}: no such file")
        if file.is_file() and not query:

            def trace(_: QueryParams) -> ShownTrace:
                return ShownTrace(file.name, ChromeTrace(0, None, pieces(file)))

        else:
            if file.is_file():
                directory = stack.enter_context(temporary_directory())
                temporary = Store(directory)
                run_id = temporary.add(file).run_id
                opened: Storage = temporary
            else:
                opened = open_store(store)
                run_id = opened.find(file_or_run)
            connection = connect(opened, [run_id])
            query.append(("run", run_id))

            def trace(_: QueryParams) -> ShownTrace:
                return trace_of(opened, connection.cursor(), QueryParams(query))

        trace(QueryParams())  # report an error here, before there is a page
        listening = stack.enter_context(_listening(port))
        address = f"http://{HOST}:{listening.getsockname()[1]}/perfetto/view"
        results().print(f"{address}  (Ctrl-C ends it)", markup=False, soft_wrap=True)
        if browser:  # in a thread: a text browser in the terminal blocks until the user quits
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        routes = trace_routes("/perfetto", trace)
        application = Starlette(routes=routes, middleware=[Middleware(SiteGuard)])
        config = uvicorn.Config(application, log_level="warning", lifespan="off")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise OutputError(f"port {port}: {reason}; choose another with --port") from error
    except OverflowError as error:
        raise OutputError(f"port {port}: must be from 0 to 65535") from error
