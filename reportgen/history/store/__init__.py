"""The store of all nights: SQLite beside the reports, or PostgreSQL for a team, through SQLAlchemy."""

from reportgen.history.store.connect import DEFAULT_NAME, open_store
from reportgen.history.store.history import History

__all__ = ["DEFAULT_NAME", "History", "open_store"]
