"""Repair the text of one event that is no JSON: the faults that exporters are known to have written.

A fault is repaired where its meaning is plain: the text stays legible, and what is no number is missing. Nothing here
touches an event that a strict parser accepts.
"""

from __future__ import annotations

import re

from reportgen.trace.damage import Damage

# The keys of an event, by which the end of a name is known whatever the name holds.
_KEYS = rb"(?:ph|cat|pid|tid|ts|dur|args|id|bp|s)"
_NAME = re.compile(
    rb'("name"\s*:\s*")(?P<name>.*?)"(?=\s*,\s*"' + _KEYS + rb'"\s*:|\s*\}\s*\}?\s*$)',
    re.DOTALL,
)
_TOKEN = re.compile(
    rb'(?P<string>"(?:[^"\\]|\\.)*")'
    rb"|(?P<no_number>(?<=[:,\[\s])[-+]?(?:inf(?:inity)?|nan(?:\([^)]*\))?|n/a)(?=[\s,\]}]))"
    rb'|(?P<key>(?<=[{,\s])[A-Za-z_][A-Za-z_ ]*"(?=\s*:))',
    re.DOTALL | re.IGNORECASE,
)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_UNKNOWN_ESCAPE = re.compile(rb'\\\\|\\["/bfnrt]|\\u[0-9a-fA-F]{4}|(?P<unknown>\\)', re.DOTALL)


def repair_event(text: bytes, damage: Damage) -> bytes:
    """Return the text of an event with its known faults repaired, counting each kind of fault once in `damage`."""
    valid = text.decode("utf-8", errors="replace").encode()
    damage.num_encoding += valid != text
    named = _NAME.sub(_with_literal_quotes, valid)
    damage.num_quoted += named != valid
    kinds: set[str] = set()
    repaired = _TOKEN.sub(lambda match: _repaired_token(match, kinds), named)
    damage.num_escapes += "escape" in kinds
    damage.num_control += "control" in kinds
    damage.num_no_numbers += "no_number" in kinds
    damage.num_keys += "key" in kinds
    return repaired


def _with_literal_quotes(match: re.Match[bytes]) -> bytes:
    """Return a name with its quotes escaped, and its line breaks, which stand for those of a source text."""
    name = match["name"]
    quoted = re.sub(rb'(?<!\\)((?:\\\\)*)"', rb'\1\\"', name)
    if len(re.search(rb"\\*$", quoted)[0]) % 2:  # type: ignore[index]  # it matches the empty text
        # The last back-slash is the path's, not an escape of the name's own closing quote.
        quoted += b"\\"
    return match[1] + quoted.replace(b"\r\n", b"\\n").replace(b"\n", b"\\n") + b'"'


def _repaired_token(match: re.Match[bytes], kinds: set[str]) -> bytes:
    token = match[0]
    if match["string"] is not None:
        return _repaired_string(token, kinds)
    kinds.add(match.lastgroup or "")
    return b"null" if match["no_number"] is not None else b'"' + token


def _repaired_string(text: bytes, kinds: set[str]) -> bytes:
    if b"\\" in text and any(match["unknown"] for match in _UNKNOWN_ESCAPE.finditer(text)):
        # Where one back-slash is literal, all are: C:\new\torch has no line break in it.
        kinds.add("escape")
        text = _ESCAPE.sub(_literal_backslash, text)
    if _CONTROL.search(text):
        kinds.add("control")
        text = _CONTROL.sub(lambda match: b"\\u%04x" % match[0][0], text)
    return text


def _literal_backslash(match: re.Match[bytes]) -> bytes:
    return match[0] if match[0] in (rb"\\", rb"\"") else b"\\" + match[0]


_BROKEN_PATH = re.compile(r"[^(]*[\b\f\n\r\t][^(]*\.pyw?\(\d+\): ")
_READ_AS_ESCAPES = str.maketrans({"\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def legible_path(name: str) -> str:
    r"""Return a frame's name with the back-slashes of its path that were read as escapes, as in ``torch\nn\f.py``."""
    return name.translate(_READ_AS_ESCAPES) if _BROKEN_PATH.match(name) else name
