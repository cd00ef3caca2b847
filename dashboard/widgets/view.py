"""What a page is about: the picked runs, and of one run the device and the steps."""

from dataclasses import dataclass
from typing import Any

from streamlit.delta_generator import DeltaGenerator

from dashboard.drawing import formatting
from dashboard.query import Scalar
from dashboard.widgets.run_picker import Device
from dashboard.widgets.step_picker import Steps


@dataclass(frozen=True)
class View:
    """What the header bar has selected.

    runs      the picked runs
    run       the one that the page is about; None where it is about all of them
    device    the device, or the host, of that run; None where no activity was recorded
    measured  its row of `run_metrics`
    steps     the steps of it
    bar       the header bar, for selectors of the page's own
    """

    runs: list[str]
    run: str | None
    device: Device | None
    measured: Any
    steps: Steps
    bar: DeltaGenerator

    def of_device(self) -> dict[str, Scalar]:
        """The conditions that a row of a macro about the run is about this device."""
        return self.device.where() if self.device else {}

    def where(self) -> dict[str, Scalar]:
        """The conditions that a view's row is about this device of the run."""
        return {"run_id": self.run, **self.of_device()}

    def of_steps(self) -> dict[str, Scalar]:
        """The conditions that a view's row is of these steps of this device."""
        return {**self.where(), **self.steps.where()}

    def address(self) -> dict[str, str]:
        """What the address of another page needs to be about the same."""
        device = {"device": self.device.label} if self.device and not self.is_host else {}
        return {"run": str(self.run), "step": self.step_key, **device}

    @property
    def step_key(self) -> str:
        """The steps as an address has them."""
        return "median" if self.is_median else self.steps.key

    @property
    def key(self) -> str:
        """For widgets whose state belongs to these steps of this device of the run."""
        return f"{self.run}-{self.device.label if self.device else ''}-{self.steps.bounds}"

    @property
    def files(self) -> str:
        """What the names of files about these steps of the run begin with."""
        return f"{self.run or f'{len(self.runs)}-runs'}-{self.steps.for_files}"

    @property
    def is_median(self) -> bool:
        """Whether the steps are the median step, or the whole of a run without steps."""
        step = None if formatting.missing(self.measured.step) else int(self.measured.step)
        return self.steps.bounds == (step, step)

    @property
    def is_host(self) -> bool:
        """Whether the host is measured, as the run has no device."""
        return self.device is not None and self.device.is_host
