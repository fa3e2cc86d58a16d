"""Python frames by what they are: the user's own functions, a library's, a module of the model."""

from __future__ import annotations

import dataclasses
import re
import sys
from typing import TYPE_CHECKING

import numpy as np

from reportgen.analysis.arithmetic.grouping import combine
from reportgen.analysis.arithmetic.links import follow
from reportgen.analysis.model import Source
from reportgen.trace.calltree import nearest_with

if TYPE_CHECKING:
    from reportgen.trace.columns import Bool, Int32, Trace

_FUNCTION = re.compile(r"(?P<file>.+?)\((?P<line>\d+)\): (?P<function>.+)", re.DOTALL)
MODULE_PREFIX = "nn.Module: "
_METHOD = re.compile(r"<built-in method (?P<name>\S+) of (?P<owner>.+?) object(?: at 0x[0-9a-f]+)?>")
_BUILTIN = re.compile(r"<built-in function (?P<name>.+)>")

# The profiler writes file names relative to the import path they were found on, so an installed package shows as its
# bare name. Besides the standard library these are the packages that model code is commonly run by.
_LIBRARIES = frozenset(
    {
        "reportgen", "torch", "torchvision", "torchaudio", "torchao", "torchtitan", "functorch", "transformers",
        "accelerate", "diffusers", "datasets", "tokenizers", "safetensors", "peft", "trl", "timm", "lightning",
        "lightning_fabric", "pytorch_lightning", "deepspeed", "megatron", "apex", "transformer_engine", "flash_attn",
        "xformers", "triton", "vllm", "sglang", "numpy", "scipy", "pandas", "sklearn", "PIL", "tqdm", "einops",
        "fsspec", "huggingface_hub", "pydantic", "msgspec", "ray", "tensorboard", "wandb", "jax", "tensorflow",
    }
)  # fmt: skip
_INSTALLED = ("site-packages/", "dist-packages/")
_STANDARD_LIBRARY = re.compile(r"/lib(?:64)?/python\d+(?:\.\d+)?/")
# Pseudo files that hold what a person typed; every other "<...>" is generated or frozen code.
_TYPED_IN = ("<stdin>", "<ipython-input")


@dataclasses.dataclass(frozen=True, kw_only=True)
class FrameName:
    """The parts of a frame's name. `line` is the line of the ``def``."""

    file: str
    line: int
    function: str


def parse_name(name: str) -> FrameName | None:
    """Split ``planted.py(57): hook``; None for built-ins, modules of a model and whatever else is no Python code."""
    match = _FUNCTION.fullmatch(name)
    if match is None:
        return None
    return FrameName(file=match["file"], line=int(match["line"]), function=match["function"])


def is_user_file(file: str) -> bool:
    """Tell the user's own code from torch, other libraries, the standard library and generated code."""
    return not _is_library(file) and not _is_torch_or_standard(file)


def _is_torch_or_standard(file: str) -> bool:
    if file.startswith("<"):
        return not file.startswith(_TYPED_IN)
    path = file.replace("\\", "/")
    if any(marker + "torch/" in path for marker in _INSTALLED):
        return True
    if _STANDARD_LIBRARY.search(path) and not any(marker in path for marker in _INSTALLED):
        return True
    top = _top_level(path)
    return top == "torch" or top in sys.stdlib_module_names


def _is_library(file: str) -> bool:
    path = file.replace("\\", "/")
    if any(marker in path for marker in _INSTALLED):
        return True
    return _top_level(path) in _LIBRARIES


def _top_level(path: str) -> str:
    """Return the package or module that a relative path begins with; an absolute path has none."""
    return path.split("/", 1)[0].removesuffix(".py")


def call_label(name: str) -> str:
    """Name a frame as a reader knows it: ``Tensor.item`` for the built-in method, ``functional.py: linear`` else."""
    method = _METHOD.fullmatch(name)
    if method is not None:
        owner = method["owner"].rpartition(".")[2]
        return method["name"] if owner in ("type", "module") or "pybind11" in owner else f"{owner}.{method['name']}"
    builtin = _BUILTIN.fullmatch(name)
    if builtin is not None:
        return builtin["name"]
    parsed = parse_name(name)
    return name if parsed is None else f"{parsed.file}: {parsed.function}"


class FrameIndex:
    """The frames of one trace with, for each, the innermost user function and module around it.

    `user` and `module` are rows of `Trace.frames` (the row itself included), -1 where there is none. `library` is the
    frame under the user's that says best what was called: the innermost one of a library that is not torch itself,
    else the innermost of all.
    """

    def __init__(self, trace: Trace) -> None:
        self._names = trace.names
        self._name = trace.frames.name
        codes = np.unique(self._name)
        self._parsed = {int(code): parse_name(trace.names[code]) for code in codes}
        is_user = self._holds([c for c, p in self._parsed.items() if p is not None and is_user_file(p.file)])
        is_module = self._holds([int(c) for c in codes if trace.names[c].startswith(MODULE_PREFIX)])
        is_library = self._holds(
            [c for c, p in self._parsed.items()
             if p is not None and _is_library(p.file) and not _is_torch_or_standard(p.file)]
        )  # fmt: skip
        parent = trace.frames.parent
        self.user: Int32 = nearest_with(parent, is_user)
        self.module: Int32 = nearest_with(parent, is_module)
        library = nearest_with(parent, is_library)
        # A library frame outside the user's function called it; it is not what the user called.
        beneath = (library > self.user) & (library >= 0)
        rows = np.arange(len(parent), dtype=np.int32)
        self.library: Int32 = np.where(beneath, library, np.where(is_user, -1, rows)).astype(np.int32)
        self.source_code, self.sources = self._describe()

    def _describe(self) -> tuple[Int32, tuple[Source, ...]]:
        """Number the distinct (user function, what it called) pairs; -1 where no user function is around."""
        code = np.full(len(self.user), -1, dtype=np.int32)
        inside = np.flatnonzero(self.user >= 0)
        function, library = self._name[self.user[inside]], follow(self.library[inside], self._name)
        code[inside], first = combine(function, library)
        return code, tuple(self._source(int(function[row]), int(library[row])) for row in first)

    def _source(self, function: int, library: int) -> Source:
        parsed = self._parsed[function]
        assert parsed is not None, "only Python functions are taken for the user's"
        return Source(
            file=parsed.file,
            line=parsed.line,
            line_kind="def",
            function=parsed.function,
            user=True,
            beneath=None if library < 0 else call_label(self._names[library]),
        )

    def _holds(self, codes: list[int]) -> Bool:
        wanted = np.zeros(len(self._names) + 1, dtype=bool)
        wanted[codes] = True
        return wanted[self._name]

    @property
    def user_name(self) -> Int32:
        """Return for each frame the name code of its innermost user function, -1 where there is none."""
        return follow(self.user, self._name)

    def function(self, name: int) -> Source:
        """Return the user function whose frames carry the name code `name`."""
        return self._source(name, -1)

    def source(self, frame: int) -> Source | None:
        """Return the innermost user function around `frame`, None where there is none or `frame` is -1."""
        code = int(self.source_code[frame]) if frame >= 0 else -1
        return None if code < 0 else self.sources[code]

    def module_name(self) -> Int32:
        """Return for each frame the name code of the innermost module around it, -1 where there is none."""
        return follow(self.module, self._name)

    def module_label(self, name: int) -> str:
        """Return ``Linear_3`` for the name code of that module's frame."""
        return self._names[name].removeprefix(MODULE_PREFIX)
