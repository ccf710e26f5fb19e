"""Check models of concurrent programs with threadwise.

    import threadwise

    report = threadwise.check("lock.tw", set={"N": 2}, timeout=60)
    for result in report.results:
        print(result.property, result.verdict)

`check` runs the program `threadwise`, which comes with this package, and returns what it found. A violation is an answer and
no error; what cannot be read raises `InputError`. Memory is sequentially consistent, and every verdict is about that.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

__all__ = [
    "Diagnostic",
    "Failure",
    "InputError",
    "MissingProgram",
    "Place",
    "Reason",
    "Report",
    "Result",
    "Run",
    "Scope",
    "Step",
    "ThreadwiseError",
    "Trace",
    "check",
    "program",
]

Value = Union[bool, int, str]
Path = Union[str, "os.PathLike[str]"]

_SCHEMA = 1


@dataclass(frozen=True)
class Place:
    """A range of the source: lines and columns from 1, the end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Diagnostic:
    """An error or a warning about a file."""

    severity: str
    message: str
    code: Optional[str] = None
    name: Optional[str] = None
    place: Optional[Place] = None
    label: Optional[str] = None
    help: Optional[str] = None

    def __str__(self) -> str:
        code = f"[{self.code}]" if self.code else ""
        where = f"{self.place.line}:{self.place.column}: " if self.place else ""
        return f"{where}{self.severity}{code}: {self.message}"


@dataclass(frozen=True)
class Scope:
    """What a verdict speaks of: one `instance`, or `all` values that `where` allows."""

    kind: str
    values: Mapping[str, int]
    parameters: Sequence[str] = ()
    where: Optional[str] = None


@dataclass(frozen=True)
class Reason:
    """Why a verdict is `unknown`, or was not rechecked. `code` is stable, `message` is for people."""

    code: str
    message: str
    next: Optional[str] = None


@dataclass(frozen=True)
class Step:
    """A step of a process, and the cells that it changed."""

    process: str
    source: str
    target: str
    line: Optional[int]
    changes: Mapping[str, Value]


@dataclass(frozen=True)
class Trace:
    """An execution. If `loop_from` is a number, the run has no end: after the last step it goes on as after that many steps."""

    property: Optional[str]
    parameters: Mapping[str, int]
    locations: Mapping[str, Value]
    variables: Mapping[str, Value]
    steps: Sequence[Step]
    loop_from: Optional[int]
    raw: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Result:
    """What was found about a property. `verdict` is `proved`, `violated` or `unknown`."""

    property: str
    kind: str
    verdict: str
    scope: Scope
    engine: str
    rechecked: bool
    reason: Optional[Reason]
    trace: Optional[Trace]
    raw: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Run:
    """A file, at one combination of parameter values if there are several. The text of `check(text=..)` is the file `-`."""

    file: str
    results: Sequence[Result]
    diagnostics: Sequence[Diagnostic]


@dataclass(frozen=True)
class Report:
    """What `threadwise check --json` prints. `raw` has everything, as the published schema describes it."""

    version: str
    memory_model: str
    exit: int
    runs: Sequence[Run]
    raw: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def results(self) -> list[Result]:
        """The results of all runs."""
        return [result for run in self.runs for result in run.results]

    @property
    def proved(self) -> bool:
        """Whether every property is proved."""
        return self.exit == 0


class ThreadwiseError(Exception):
    """There is no answer."""


class MissingProgram(ThreadwiseError):
    """The program `threadwise` was not found."""


class InputError(ThreadwiseError):
    """A file or an argument cannot be read, or there is nothing to check: status 2. `report` has what was found of other files."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = (), report: Optional[Report] = None) -> None:
        super().__init__(message)
        self.diagnostics = diagnostics
        self.report = report


class Failure(ThreadwiseError):
    """The program failed, was interrupted, or found evidence that does not hold up."""

    def __init__(self, message: str, status: int, report: Optional[Report] = None) -> None:
        super().__init__(message)
        self.status = status
        self.report = report


def program() -> str:
    """The program that `check` runs: that of THREADWISE, that of this package, or that on the PATH."""
    chosen = os.environ.get("THREADWISE")
    if chosen:
        if shutil.which(chosen) is None:
            raise MissingProgram(f"THREADWISE is {chosen}, which is no program that can be run")
        return chosen
    name = "threadwise.exe" if sys.platform == "win32" else "threadwise"
    schemes = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))] \
        if sys.version_info >= (3, 10) else [sysconfig.get_path("scripts")]
    for folder in schemes:
        candidate = os.path.join(folder, name)
        if shutil.which(candidate):
            return candidate
    found = shutil.which("threadwise")
    if found is None:
        raise MissingProgram("the program threadwise is not installed: install this package from a wheel, or set THREADWISE to its path")
    return found


def check(
    files: Union[Path, Iterable[Path]] = (),
    *,
    text: Optional[str] = None,
    set: Optional[Mapping[str, Union[int, str]]] = None,
    properties: Iterable[str] = (),
    only: Optional[str] = None,
    engine: Optional[str] = None,
    timeout: Optional[float] = None,
    total_timeout: Optional[float] = None,
    memory: Optional[int] = None,
    explain: bool = False,
    arguments: Sequence[str] = (),
) -> Report:
    """Check the properties of models.

    `files` is a path or several, `text` a model itself. `set` gives parameters a value (`{"N": 3}`) or a range (`{"N": "2..4"}`).
    The other options are those of `threadwise check`, and `arguments` any more of them: `["--no-recheck"]`.

    Raises `InputError` for what cannot be read, `MissingProgram` without the program, and `Failure` if it fails.
    """
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if text is None and not paths:
        raise InputError("nothing to check: give files or a text")
    command = [program(), "check", "--format", "json"]
    for name, value in (set or {}).items():
        command.append(f"--set={name}={value}")
    command += [f"--property={name}" for name in properties]
    options = {"only": only, "engine": engine, "timeout": timeout, "total-timeout": total_timeout, "memory": memory}
    command += [f"--{option}={value}" for option, value in options.items() if value is not None]
    if explain:
        command.append("--explain")
    command += arguments
    command.append("--")
    command += [os.fspath(path) for path in paths]
    if text is not None:
        command.append("-")
    try:
        done = subprocess.run(command, input=text or "", capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise MissingProgram(f"{command[0]} cannot be run: {error}") from error
    report = _report(done.stdout)
    status = done.returncode
    if status == 2:
        diagnostics = [d for run in report.runs for d in run.diagnostics if d.severity == "error"] if report else []
        said = "\n".join(map(str, diagnostics)) or done.stderr.strip() or "threadwise cannot read its input"
        raise InputError(said, diagnostics, report)
    if report is None or status not in (0, 1, 3):
        raise Failure(done.stderr.strip() or f"threadwise ended with status {status}", status, report)
    return report


def _report(output: str) -> Optional[Report]:
    try:
        raw = json.loads(output)
    except ValueError:
        return None
    if not isinstance(raw, dict) or raw.get("schema") != _SCHEMA:
        raise Failure("the program and this package are not of the same version: its output has another form", 4)
    return Report(raw["version"], raw["memory_model"], raw["exit"], tuple(map(_run, raw["runs"])), raw)


def _run(raw: Mapping[str, Any]) -> Run:
    return Run(raw["file"], tuple(map(_result, raw["results"])), tuple(map(_diagnostic, raw["diagnostics"])))


def _diagnostic(raw: Mapping[str, Any]) -> Diagnostic:
    place = Place(**raw["place"]) if raw.get("place") else None
    rest = {name: raw.get(name) for name in ("code", "name", "label", "help")}
    return Diagnostic(raw["severity"], raw["message"], place=place, **rest)


def _result(raw: Mapping[str, Any]) -> Result:
    scope, reason, trace = raw["scope"], raw.get("reason"), raw.get("trace")
    return Result(
        property=raw["property"],
        kind=raw["kind"],
        verdict=raw["verdict"],
        scope=Scope(scope["kind"], scope.get("values", {}), tuple(scope.get("parameters", ())), scope.get("where")),
        engine=raw["engine"],
        rechecked=raw["rechecked"],
        reason=Reason(reason["code"], reason["message"], reason.get("next")) if reason else None,
        trace=_trace(trace) if trace else None,
        raw=raw,
    )


def _trace(raw: Mapping[str, Any]) -> Trace:
    return Trace(
        property=raw.get("property"),
        parameters=raw["params"],
        locations=raw["initial"]["locations"],
        variables=raw["initial"]["variables"],
        steps=tuple(
            Step(step["process"], step["from"], step["to"], step.get("line"), step.get("changes", {})) for step in raw["steps"]
        ),
        loop_from=raw.get("loop_from"),
        raw=raw,
    )
