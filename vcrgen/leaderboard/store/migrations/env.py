"""Run by Alembic: migrates on the connection that the caller has opened, inside its transaction."""

from alembic import context

from vcrgen.leaderboard.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the caller's transaction is the transaction
    render_as_batch=True,
)
context.run_migrations()
