"""The selection that a page shows: the picked runs, and the device and steps of one run."""

from dataclasses import dataclass
from typing import Any

from streamlit.delta_generator import DeltaGenerator

from dashboard.drawing import formatting
from dashboard.widgets.run_picker import Device
from dashboard.widgets.step_picker import Steps
from ingest.server import Scalar


@dataclass(frozen=True)
class View:
    """The selection in the header bar.

    runs      the picked runs
    run       the run that the page shows; None if it shows all of them
    device    the device of that run, or its host; None if no activity was recorded
    measured  the device's row of `run_metrics`
    steps     the selected steps
    bar       the header bar, for more pickers of the page
    """

    runs: list[str]
    run: str | None
    device: Device | None
    measured: Any
    steps: Steps
    bar: DeltaGenerator

    def of_device(self) -> dict[str, Scalar]:
        """Return the conditions for rows of a macro about this run and device."""
        return self.device.where() if self.device else {}

    def where(self) -> dict[str, Scalar]:
        """Return the conditions for rows of a view about this run and device."""
        return {"run_id": self.run, **self.of_device()}

    def of_steps(self) -> dict[str, Scalar]:
        """Return the conditions for rows of a view about this run, device and steps."""
        return {**self.where(), **self.steps.where()}

    def address(self) -> dict[str, str]:
        """Return the URL parameters with which another page shows the same selection."""
        device = {"device": self.device.label} if self.device and not self.is_host else {}
        return {"run": str(self.run), "step": self.step_key, **device}

    @property
    def step_key(self) -> str:
        """The URL parameter of the steps."""
        return "median" if self.is_median else self.steps.key

    @property
    def key(self) -> str:
        """The key of widgets whose state belongs to this run, device and steps."""
        return f"{self.run}-{self.device.label if self.device else ''}-{self.steps.bounds}"

    @property
    def files(self) -> str:
        """The prefix of file names for these steps of the run."""
        return f"{self.run or f'{len(self.runs)}-runs'}-{self.steps.for_files}"

    @property
    def is_median(self) -> bool:
        """Whether the steps are the median step, or the whole recording of a run without steps."""
        step = None if formatting.missing(self.measured.step) else int(self.measured.step)
        return self.steps.bounds == (step, step)

    @property
    def is_host(self) -> bool:
        """Whether the host is measured because the run has no device."""
        return self.device is not None and self.device.is_host
