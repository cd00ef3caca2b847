"""Observation of the compilations of torch.compile."""

from collections.abc import Callable
from typing import Any

from capture.errors import say


def on_compilations(begins: Callable[..., Any], ends: Callable[..., Any]) -> None:
    """Call `begins` and `ends` at each compilation, or say that this version of torch cannot."""
    try:
        from torch._dynamo.callback import callback_handler

        clear = callback_handler.clear
        on_begin = callback_handler.register_start_callback
        on_end = callback_handler.register_end_callback
    except (ImportError, AttributeError):
        say(
            "cannot observe compilations with this version of torch: steps that compile count "
            "like other steps"
        )
        return

    def clear_others() -> None:  # torch._dynamo.reset() calls this
        try:
            clear()
        finally:
            on_begin(begins)
            on_end(ends)

    callback_handler.clear = clear_others  # type: ignore[method-assign]
    on_begin(begins)
    on_end(ends)
