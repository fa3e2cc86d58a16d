"""Where a step of an unknown script ends: at the optimizer's step, at the model's return, or at a function's."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils.data import DataLoader

from reportgen.errors import UsageError, did_you_mean
from reportgen.runner.capture import CaptureSession, capture
from reportgen.runner.capture.shortfall import Entry
from reportgen.workload import Phase

if TYPE_CHECKING:
    from reportgen.runner.exec_script import ScriptRequest

# So many calls of a model without an update make a script that does not train: more than any accumulates.
FORWARDS_WITHOUT_UPDATE = 32
# What passed before the session was opened counts as warming up.
SKIPPED_UPDATES, SKIPPED_FORWARDS = 10, 0
NAME_THE_STEP = "name the function that is one with --step-of FUNCTION"
_DECORATOR = "__reportgen_step__"


class ScriptSteps:
    """Counts a script's steps while its context is open, and opens the capture when it knows what a step is.

    The first optimizer that updates counts. Until one does, calls of the outermost module that was called first count;
    where none does for `FORWARDS_WITHOUT_UPDATE` calls, those are the steps. With `step_of` only that function counts.
    """

    def __init__(self, request: ScriptRequest) -> None:
        self._request = request
        self._by_name = request.step_of is not None
        self._session: CaptureSession | None = None
        self._optimizer: Any = None
        self._model: torch.nn.Module | None = None
        self._loader: DataLoader[Any] | None = None
        self._num_forwards = 0
        self._hooks = ExitStack()
        self._looking = ExitStack()

    def __enter__(self) -> ScriptSteps:
        self._hooks.callback(register_optimizer_step_post_hook(self._after_update).remove)
        self._looking.callback(register_module_forward_pre_hook(self._before_forward).remove)
        self._follow_loaders()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Literal[False]:
        self._looking.close()
        self._hooks.close()
        if self._session is not None:
            self._session.__exit__(kind, error, trace)
        return False

    def _follow_loaders(self) -> None:
        """Remember the loader that was last asked for batches: when the capture opens, it is the loop's."""
        begin = DataLoader.__iter__

        def noting(loader: DataLoader[Any]) -> Any:
            self._loader = loader
            return begin(loader)

        DataLoader.__iter__ = noting
        self._hooks.callback(setattr, DataLoader, "__iter__", begin)

    def on_call(self) -> None:
        """Count a call of the function that is a step."""
        self._count("train" if self._optimizer is not None else "forward", SKIPPED_UPDATES)

    def _before_forward(self, module: torch.nn.Module, inputs: object) -> None:
        """Remember the first module that is called, and stop looking: a hook on all of them costs each call."""
        self._looking.close()
        self._model = module
        if not self._by_name:
            self._looking.callback(module.register_forward_hook(self._after_forward).remove)

    def _after_forward(self, *_: object) -> None:
        self._num_forwards += 1
        if self._num_forwards > FORWARDS_WITHOUT_UPDATE:
            self._count("forward", SKIPPED_FORWARDS)

    def _after_update(self, optimizer: Any, *_: object) -> None:
        if self._optimizer is None:
            self._optimizer = optimizer
        if self._session is None:
            self._looking.close()
        if optimizer is self._optimizer and not self._by_name and not self._counts_forwards():
            self._count("train", SKIPPED_UPDATES)

    def _counts_forwards(self) -> bool:
        return self._session is not None and self._num_forwards > FORWARDS_WITHOUT_UPDATE

    def _count(self, phase: Phase, skip: int) -> None:
        if self._session is not None:
            self._session.step()
            return
        request = self._request
        self._session = capture(
            Path(request.script).stem,
            output=request.output,
            phase=phase,
            skip=skip,
            device=request.device,
            model=self._model,
            loader=self._loader,
            report=False,
        )
        before = self._num_forwards if self._counts_forwards() else 1
        self._session.entry = Entry(no_step=NAME_THE_STEP, num_before=before)
        self._session.__enter__()
        Path(request.tell).write_text(str(self._session.recording.resolve()))


def instrumented(script: Path, step_of: str | None, on_call: Callable[[], None], names: dict[str, Any]) -> CodeType:
    """Return the code of `script`, the function `step_of` in it decorated so that `on_call` follows each call.

    A function that is not the script's own is looked for as ``module.function`` and replaced in its module. `names`
    are those that the code will run with. Raises `UsageError` where there is no such function.
    """
    tree = ast.parse(script.read_bytes(), filename=str(script))
    decorator = functools.partial(_followed, on_call=on_call)
    if step_of is not None:
        function = _find(tree, step_of.split("."))
        if function is None:
            _replace(step_of, decorator, _function_names(tree))
        else:
            names[_DECORATOR] = decorator
            name = ast.Name(id=_DECORATOR, ctx=ast.Load())
            function.decorator_list.append(ast.copy_location(name, function))
    return compile(tree, str(script), "exec")


def _followed(function: Callable[..., Any], on_call: Callable[[], None]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        result = function(*arguments, **keywords)
        on_call()
        return result

    return call


def _find(tree: ast.AST, path: list[str]) -> ast.FunctionDef | None:
    """Return the definition that the names in `path` lead to, through classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == path[0]:
            if len(path) > 1:
                found = _find(ast.Module(body=node.body, type_ignores=[]), path[1:])
            else:
                found = node if isinstance(node, ast.FunctionDef) else None
            if found is not None:
                return found
    return None


def _function_names(tree: ast.AST) -> list[str]:
    return [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _replace(step_of: str, decorator: Callable[[Callable[..., Any]], Callable[..., Any]], names: list[str]) -> None:
    module_name, _, function_name = step_of.rpartition(".")
    try:
        module = importlib.import_module(module_name) if module_name else None
    except ImportError:
        module = None
    function = getattr(module, function_name, None)
    if not callable(function):
        meant = did_you_mean(step_of, names)
        raise UsageError(f"--step-of {step_of}: no function of the script, nor of a module, is called so.{meant}")
    setattr(module, function_name, decorator(function))
