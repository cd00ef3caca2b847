"""Runs the processes of a sweep one after the other. Each writes a file with its results."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from capture.errors import say
from capture.output.redact import redact
from capture.output.run_directory import make, read_json, write_json
from capture.sweep import process
from capture.sweep.plan import Plan
from capture.sweep.results import distance_of, result
from capture.sweep.variants import Variant
from capture.units import duration

# Directories of compiled code. Inductor puts Triton's kernels in its own unless the second is set.
CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
RUN = "run"  # directory of a variant's profile


class Sweep:
    """The processes of a plan. Finished results stay in `directory` and are not repeated.

    directory   the directory with a folder for each variant
    tag         the tag of the runs: `sweep=<tag>`
    limit_s     time limit of each process in seconds
    open_files  file descriptors that the processes inherit
    """

    def __init__(
        self, plan: Plan, directory: Path, tag: str, limit_s: float, open_files: Sequence[int] = ()
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._tag = tag
        self._limit_s = limit_s
        self._open_files = open_files

    def measure(self) -> None:
        """Time each variant in separate processes.

        The variants take turns, so that changes of the machine over time affect all of them. A
        variant that failed is not tried again.
        """
        for number in range(1, self._plan.repeat + 1):
            variants = self._plan.variants
            if number % 2 == 0:  # reverse, so that no variant always follows the same one
                variants.reverse()
            for position, variant in enumerate(variants, 1):
                if not self._file(variant, number).exists() and not self._failure(variant):
                    done = self._time(variant, number)
                    say(f"round {number}, {position} of {len(variants)}: {variant.name}: {done}")

    def profile(self) -> None:
        """Profile each variant that did not fail, and complete the descriptions of all variants."""
        for position, variant in enumerate(self._plan.variants, 1):
            if self._is_described(variant):
                continue
            failure = self._failure(variant)
            if not failure:
                say(f"profile {position} of {len(self._plan.variants)}: {variant.name}")
                out = ("--out", str(self.run_of(variant)), "--profile-name", self._name(variant))
                failure = self._run(variant, *out, log="run.log")
            self._describe(variant, failure)

    def run_of(self, variant: Variant) -> Path:
        """Return the run directory of a variant."""
        return self._folder(variant) / RUN

    def has_failed(self) -> bool:
        """Return whether all variants failed."""
        files = (self.run_of(variant) / "run.json" for variant in self._plan.variants)
        return all("error" in read_json(file)["sweep"] for file in files)

    def clean(self) -> None:
        """Remove compiler caches and outputs, but keep the outputs that others are compared with.

        A variant that runs again needs these.
        """
        for variant in self._plan.variants:
            shutil.rmtree(self._cache(variant), ignore_errors=True)
            for output in self._outputs(variant)[int(variant.is_base) :]:
                output.unlink(missing_ok=True)

    def _time(self, variant: Variant, number: int) -> str:
        """Time a variant in one process. Return the time per call, or the reason of a failure."""
        file, cache = self._file(variant, number), self._cache(variant)
        if number == 1:  # an interrupted process may have left a warm cache
            shutil.rmtree(cache, ignore_errors=True)
        failure = self._run(
            variant,
            f"--measure={file}",
            f"--measured-calls={self._plan.calls}",
            log=f"{number}.log",
            cache=cache,
        )
        if not failure and not file.exists():
            failure = "the process ended before it wrote its measurements"
        if failure:
            write_json(file, {"error": failure})
            return failure
        return f"{duration(median(read_json(file)['call_times_ns']))} per call"

    def _run(
        self, variant: Variant, *options: str, log: str, cache: Path | None = None
    ) -> str | None:
        """Run a variant's command. Return the reason of a failure, else None."""
        folder = self._folder(variant)
        make(folder)
        command = [sys.executable, "-m", "capture", *self._plan.command(variant), *options]
        environment = {name: str(cache.absolute()) for name in CACHES} if cache else {}
        return process.run(command, folder / log, self._limit_s, environment, self._open_files)

    def _describe(self, variant: Variant, failure: str | None) -> None:
        """Add the results of the sweep to run.json, or create it for a failed variant."""
        file = self.run_of(variant) / "run.json"
        run = read_json(file) if file.exists() else {}
        ordinal = self._plan.variants.index(variant) + 1
        found = result(self._tag, ordinal, variant, self._processes(variant))
        if "error" not in found:
            base = next(each for each in self._plan.variants if each.name == variant.base)
            found["distance"] = distance_of(variant, self._outputs(base), self._outputs(variant))
        if failure:
            run = {
                "name": self._name(variant),
                "model": self._plan.name,
                "mode": "compiled" if variant.compile_options else "eager",
                "error": failure,
            } | run
            found["error"] = failure
        run["tags"] = {**run.get("tags", {}), "sweep": self._tag, "variant": variant.name}
        make(file.parent)
        write_json(file, redact(run | {"sweep": found}))

    def _name(self, variant: Variant) -> str:
        """Return the name of a variant's run."""
        return f"{self._plan.name}-{variant.folder}"

    def _is_described(self, variant: Variant) -> bool:
        """Return whether the variant is complete. If not, remove its interrupted profile."""
        file = self.run_of(variant) / "run.json"
        if file.exists() and "sweep" in read_json(file):
            return True
        shutil.rmtree(file.parent, ignore_errors=True)
        return False

    def _failure(self, variant: Variant) -> str | None:
        """Return the reason why a process of the variant failed, else None."""
        errors = (each["error"] for each in self._processes(variant) if "error" in each)
        return next(errors, None)

    def _processes(self, variant: Variant) -> list[dict[str, Any]]:
        """Return the measurements of the variant's finished processes."""
        numbers = range(1, self._plan.repeat + 1)
        files = (self._file(variant, number) for number in numbers)
        return [read_json(file) for file in files if file.exists()]

    def _outputs(self, variant: Variant) -> list[Path]:
        """Return the files with the outputs of the variant's processes, in order."""
        numbered = (
            self._file(variant, number).with_suffix(".npy")
            for number in range(1, self._plan.repeat + 1)
        )
        return [file for file in numbered if file.exists()]

    def _file(self, variant: Variant, number: int) -> Path:
        return self._folder(variant) / f"{number}.json"

    def _cache(self, variant: Variant) -> Path:
        """Return the directory of the compiler's cache."""
        return self._folder(variant) / "cache"

    def _folder(self, variant: Variant) -> Path:
        return self._directory / variant.folder
