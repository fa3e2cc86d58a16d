"""Every test that takes `store_url`, or what is made of it, runs on SQLite and on PostgreSQL."""

import pytest
import sqlalchemy as sa

from reportgen.history.store import open_store
from reportgen.history.store.schema import metadata
from tests.stores import postgres


@pytest.fixture(scope="session")
def postgres_url():
    with postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request, tmp_path):
    """Where an empty store is to be made."""
    if request.param == "sqlite":
        yield str(tmp_path / "history.sqlite")
        return
    url = request.getfixturevalue("postgres_url")
    yield url
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    metadata.drop_all(engine)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE IF EXISTS alembic_version"))
    engine.dispose()


@pytest.fixture
def store(store_url):
    """An empty store."""
    history = open_store(store_url)
    yield history
    history.close()
