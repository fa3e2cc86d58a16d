"""What Alembic runs for every command: the migrations, in the transaction that `connect` has begun."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
