"""Open a store, whatever database it lies in, and bring its tables up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError

from reportgen.errors import InputUnreadable, UsageError
from reportgen.history.store.history import History
from reportgen.history.store.reading import first_line, shown_url

if TYPE_CHECKING:
    from alembic.config import Config

DEFAULT_NAME = "history.sqlite"
_MIGRATIONS = Path(__file__).parent / "migrations"
# How long a writer waits for another: longer than any transaction here takes.
_BUSY_TIMEOUT_S = 60
# Names the lock under which a PostgreSQL store is brought up to date.
_UPGRADE_LOCK = 0x7265706F7274


def open_store(where: str | Path, *, create: bool = True) -> History:
    """Open the store at the URL or the SQLite file `where`, made where `create` allows it, and brought up to date.

    Raises `UsageError` for a URL that names no database that can be used, and `InputUnreadable` for a store that
    cannot be reached, that is not there and may not be made, or that a newer version of reportgen has written.
    """
    url = _url(where)
    if not create and url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise InputUnreadable(f"{url.database or where}: no such store; reportgen nightly makes one")
    engine = _engine(url)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
            _upgrade(connection)
    except DatabaseError as error:  # a file that is no database is one, too
        raise InputUnreadable(f"the store {shown_url(engine)} cannot be opened: {first_line(error)}") from error
    return History(engine)


def _url(where: str | Path) -> sa.URL:
    if isinstance(where, Path) or "://" not in where:
        return sa.URL.create("sqlite", database=str(where))
    try:
        url = make_url(where)
    except (ArgumentError, ValueError) as error:  # a port that is no number
        raise UsageError(f"{where!r} is no URL of a database: postgresql://HOST/NAME, or a file") from error
    is_postgres = url.drivername in ("postgresql", "postgres")
    return url.set(drivername="postgresql+psycopg") if is_postgres else url


def _engine(url: sa.URL) -> sa.Engine:
    if url.get_backend_name() == "sqlite" and url.database:
        _make_folder(Path(url.database).parent)
    try:
        engine = sa.create_engine(url, **_options(url))
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise UsageError(f"no driver for {url.drivername}: {error}; try: pip install 'reportgen[postgres]'") from error
    if url.get_backend_name() == "sqlite":
        _make_sqlite_safe(engine)
    return engine


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputUnreadable(f"the store's folder {folder} cannot be made ({error.strerror})") from error


def _options(url: sa.URL) -> dict[str, Any]:
    if url.get_backend_name() != "sqlite":
        return {"pool_pre_ping": True}
    # No transaction but those begun below; SQLite's own module would begin them too late.
    return {"connect_args": {"timeout": _BUSY_TIMEOUT_S, "isolation_level": None}}


def _make_sqlite_safe(engine: sa.Engine) -> None:
    """Let readers read while one writes, and make a second writer wait where it begins, not fail where it writes."""

    @sa.event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_S * 1000}")
        cursor.execute("PRAGMA journal_mode = WAL")
        # What is committed survives the machine's power, not only this process.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def _begun(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = _config()
    script = ScriptDirectory.from_config(config)
    current = MigrationContext.configure(connection).get_current_revision()
    head = script.get_current_head()
    if current == head:
        return
    if current is not None and current not in {revision.revision for revision in script.walk_revisions()}:
        raise InputUnreadable(f"the store is of a newer reportgen (schema {current}, here {head}): update reportgen")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config
