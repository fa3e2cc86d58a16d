"""The modules that workloads are written in: finding them, reading them without running them, loading them."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reportgen.errors import UsageError, did_you_mean
from reportgen.resources import is_file
from reportgen.workload.values import Case, Workload, check_cases, check_words


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outline:
    """A workload as its module's text shows it: everything but `build`."""

    path: Path
    name: str
    description: str
    cases: tuple[Case, ...]


class NotLiteral(UsageError):
    """The module's ``WORKLOAD`` is computed, so it can be known only by running the module."""


def find_workload(word: str, folders: Sequence[Path]) -> Path:
    """Return the module that `word` means: a path to a ``.py`` file, or the name of a workload in `folders`."""
    path = Path(word).expanduser()
    if path.suffix == ".py" or len(path.parts) > 1:
        if is_file(path):
            return path.resolve()
        raise UsageError(f"no workload {word}: there is no such file")
    outlines = list_workloads(folders)
    found = next((outline for outline in outlines if word in {outline.name, outline.path.stem}), None)
    if found is None:
        names = [outline.name for outline in outlines]
        raise UsageError(f"no workload {word!r}; there are {', '.join(names) or 'none'}." + did_you_mean(word, names))
    return found.path


def list_workloads(folders: Iterable[Path]) -> tuple[Outline, ...]:
    """Return the workloads in `folders` by name, read from their text alone: no module is imported.

    A module without ``WORKLOAD`` is no workload and is left out; one that is computed, or that does not parse, is
    listed under its file's name with the reason as its description, and without cases.
    """
    outlines = []
    for path in sorted(path for folder in folders for path in folder.glob("*.py") if not path.name.startswith("_")):
        try:
            outlines.append(read_outline(path))
        except NotLiteral:
            reason = "WORKLOAD is computed: known only when it runs"
            outlines.append(Outline(path=path, name=path.stem, description=reason, cases=()))
        except UsageError as error:
            if _has_workload(path):
                outlines.append(Outline(path=path, name=path.stem, description=str(error), cases=()))
    return tuple(sorted(outlines, key=lambda outline: outline.name))


def read_outline(path: Path) -> Outline:
    """Read name, description and cases of the workload in `path` without running the module.

    Raises `NotLiteral` where they are not written as literals, `UsageError` where the module has no workload.
    """
    fields = _keywords(_workload_call(path, _parse(path)), path)
    _check_fields(fields, path)
    name, description = _literal(fields.get("name"), path), _literal(fields.get("description"), path)
    check_words(name, description)
    listed = fields.get("cases")
    if not isinstance(listed, ast.Tuple | ast.List):
        raise NotLiteral(f"{path}: WORKLOAD's cases are not written out")
    cases = [_read_case(node, path) for node in listed.elts]
    return Outline(path=path, name=name, description=description, cases=check_cases(name, cases))


def load_workload(path: Path) -> Workload:
    """Run the module at `path` and return its ``WORKLOAD``; what the module raises itself is raised unchanged.

    Its folder comes first in ``sys.path``, as it does for a script, so that it can import what lies beside it.
    """
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    # Registered before it runs: dataclasses, pickling and torch.compile look a function's module up by its name.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    workload = getattr(module, "WORKLOAD", None)
    if not isinstance(workload, Workload):
        raise UsageError(_no_workload(path))
    return workload


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), filename=str(path))
    except OSError as error:
        raise UsageError(f"no workload {path}: {error.strerror}") from error
    except (MemoryError, RecursionError) as error:  # what the parser says of expressions nested too deep for it
        raise UsageError(f"{path} is nested too deep to be read") from error
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise UsageError(f"{path}{f':{line}' if line else ''} is no valid Python: {error}") from error


def _workload_call(path: Path, module: ast.Module) -> ast.Call:
    """Return the call that makes ``WORKLOAD``, the last one in the module's own statements."""
    value = _assigned(module)
    if value is None:
        raise UsageError(_no_workload(path))
    if not isinstance(value, ast.Call) or _called(value) != "Workload":
        raise NotLiteral(f"{path}: WORKLOAD is not written as Workload(…)")
    return value


def _check_fields(fields: Mapping[str, ast.expr], path: Path) -> None:
    known = [field.name for field in dataclasses.fields(Workload)]
    for name in fields:
        if name not in known:
            raise UsageError(
                f"{path}: Workload(…) has no {name}=; it has {', '.join(known)}.{did_you_mean(name, known)}"
            )
    build = fields.get("build")
    if build is None or isinstance(build, ast.Constant):
        given = "lacks build=" if build is None else f"cannot call build={ast.unparse(build)}"
        raise UsageError(f"{path}: Workload(…) {given}; give a function build(case, device)")


def _assigned(module: ast.Module) -> ast.expr | None:
    value: ast.expr | None = None
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            targets: list[ast.expr] = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == "WORKLOAD" for target in targets):
            value = statement.value
    return value


def _has_workload(path: Path) -> bool:
    try:
        return _assigned(_parse(path)) is not None
    except UsageError:
        return True


def _read_case(node: ast.expr, path: Path) -> Case:
    if not isinstance(node, ast.Call) or _called(node) != "Case":
        raise NotLiteral(f"{path}:{node.lineno}: a case is not written as Case(…)")
    fields = {key: _literal(value, path) for key, value in _keywords(node, path).items()}
    if len(node.args) > 1:
        raise UsageError(f"{path}:{node.lineno}: Case(name, phase=…, …) takes all but the name by keyword")
    if node.args:
        fields["name"] = _literal(node.args[0], path)
    name, phase = fields.pop("name", None), fields.pop("phase", None)
    return Case(name, phase=phase, **fields)


def _called(node: ast.Call) -> str | None:
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


def _keywords(call: ast.Call, path: Path) -> dict[str, ast.expr]:
    if any(keyword.arg is None for keyword in call.keywords):
        raise NotLiteral(f"{path}:{call.lineno}: ** cannot be read without running the module")
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def _literal(node: ast.expr | None, path: Path) -> Any:
    if node is None:
        raise NotLiteral(f"{path}: WORKLOAD lacks a name, a description or its cases")
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise NotLiteral(f"{path}:{node.lineno}: {ast.unparse(node)} is no literal") from error


def _no_workload(path: Path) -> str:
    return f"{path} has no WORKLOAD; a workload module defines WORKLOAD = Workload(name=…, cases=…, build=…)"
