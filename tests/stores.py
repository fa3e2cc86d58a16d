"""The stores that the tests of history run on: SQLite, and a PostgreSQL that they start themselves."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Start a PostgreSQL of our own, reachable by a socket alone, and yield the URL of its database; else skip."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'reportgen[postgres]'")
    folder = Path(tempfile.mkdtemp(prefix="rg-pg-"))  # a socket's path may be 107 characters long
    programs = _programs()
    as_user = _unprivileged(folder)
    initdb = [*as_user, str(programs / "initdb"), "-D", str(folder / "data"), "-U", "test", "-A", "trust", "--no-sync"]
    made = subprocess.run(initdb, cwd=folder, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"initdb does not run here: {made.stderr.strip()[:200]}")
    options = ["-c", "listen_addresses=", "-k", str(folder), "-c", "fsync=off", "-F"]
    with (folder / "log").open("w") as log:
        command = [*as_user, str(programs / "postgres"), "-D", str(folder / "data"), *options]
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        _wait_for(folder, server)
        yield f"postgresql://test@/postgres?host={folder}"
    finally:
        server.terminate()
        server.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    """Return the folder with initdb and postgres of the newest version that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    if on_path and shutil.which("postgres"):
        return Path(on_path).parent
    pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    raise AssertionError


def _unprivileged(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as root: return what puts another user before a command."""
    if os.getuid() != 0:
        return []
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        user = pwd.getpwnam("nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _wait_for(folder: Path, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server in `folder` lets somebody in: its socket is there while it still starts."""
    import psycopg

    deadline = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(host=str(folder), user="test", dbname="postgres").close()
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.skip(f"postgres does not start here: {(folder / 'log').read_text()[-200:]}")
            time.sleep(0.1)
        else:
            return
