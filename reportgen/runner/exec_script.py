"""Run somebody's script unchanged, in a child process, and capture a window of its loop.

    python -m reportgen.runner.exec_script REQUEST

The parent's side (`run_script`) imports no torch. The child tells where its recording is by writing it into a file.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import types
from pathlib import Path

import msgspec

from reportgen.errors import UsageError
from reportgen.resources import DEFAULT_OUTPUT


class ScriptRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to run, and how its steps are told."""

    script: str
    arguments: tuple[str, ...] = ()
    output: str = str(DEFAULT_OUTPUT)
    device: str = "auto"
    # A function of the script, or `module.function`, each call of which is a step; None: found by what repeats.
    step_of: str | None = None
    # The files into which the child writes the path of its recording, and why it did not begin.
    tell: str = ""
    refuse: str = ""


class ScriptRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a script left: its recording, and the code with which it ended (negative: the signal that ended it)."""

    recording: Path
    exit_code: int


def run_script(request: ScriptRequest) -> ScriptRun:
    """Run the script to its end, its output going where ours goes; raise `UsageError` where nothing was captured."""
    if not Path(request.script).is_file():
        raise UsageError(f"no script {request.script}: there is no such file")
    with tempfile.TemporaryDirectory(prefix="reportgen-") as scratch:
        told, refused = Path(scratch) / "recording", Path(scratch) / "refused"
        encoded = msgspec.json.encode(msgspec.structs.replace(request, tell=str(told), refuse=str(refused))).decode()
        done = subprocess.run([sys.executable, "-m", __name__, encoded], check=False)
        recording = told.read_text() if told.is_file() else ""
        reason = refused.read_text() if refused.is_file() else ""
    if reason:
        raise UsageError(reason)
    name = Path(request.script).name
    if recording:
        return ScriptRun(recording=Path(recording), exit_code=done.returncode)
    if done.returncode:
        raise UsageError(f"{name} ended with exit code {done.returncode} before a step of it was seen")
    raise UsageError(f"no step of {name} was seen: name the function that is one with --step-of FUNCTION")


def main(words: list[str]) -> None:
    """Run the script of the request in `words` as ``python SCRIPT`` would, and capture it."""
    from reportgen.runner.step_finding import ScriptSteps, instrumented

    request = msgspec.json.decode(words[0], type=ScriptRequest)
    script = Path(request.script)
    sys.argv = [request.script, *request.arguments]
    sys.path[0] = str(script.parent.resolve())
    module = types.ModuleType("__main__")
    module.__file__ = request.script
    sys.modules["__main__"] = module
    with ScriptSteps(request) as steps:
        try:
            code = instrumented(script, request.step_of, steps.on_call, module.__dict__)
        except UsageError as error:
            Path(request.refuse).write_text(str(error))
            sys.exit(error.exit_code)
        exec(code, module.__dict__)  # the script itself, which the user asked to be run


if __name__ == "__main__":
    main(sys.argv[1:])
