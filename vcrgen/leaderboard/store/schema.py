"""The tables of a board. With any change here, raise ``SCHEMA_VERSION``."""

import sqlalchemy as sa
from sqlalchemy import Column, Table

from vcrgen.web.database.schema import Moment, columns, new_metadata

SCHEMA_VERSION = 9  # a board of another version is rejected
metadata = new_metadata()
# The number is the place of a set in the navigation. The lifecycle is a record of that name as JSON. A multiple-choice
# benchmark has several languages, as `en+ar`.
sets = Table(
    "sets",
    metadata,
    *columns(
        name=40,
        number=sa.Integer,
        path=sa.Text,
        hidden=sa.Boolean,
        language=sa.Text,
        questions=sa.Integer,
        spans=sa.Integer,
        modes=sa.JSON,
        signature=sa.Text,
        lifecycle=sa.JSON,
        task=20,
        covers=sa.JSON,
        white_rows=sa.Boolean,
    ),
    sa.PrimaryKeyConstraint("name"),
)
# The key is the name, case-folded. Teams of one group share their limits; the group is its name, case-folded.
teams = Table(
    "teams",
    metadata,
    *columns(key=240, name=80, group_=240),
    sa.PrimaryKeyConstraint("key"),
    sa.Index(None, "group"),
)
# The hash is the SHA-256 of the token; the team is its key.
tokens = Table(
    "tokens",
    metadata,
    *columns(hash=64, team=240, label=80, made=Moment, revoked_=Moment),
    sa.Index(None, "team"),
    sa.PrimaryKeyConstraint("hash"),
    sa.ForeignKeyConstraint(["team"], ["teams.key"]),
)
# People who signed in with a provider: the SHA-256 of the identity, and the key of their team.
identities = Table(
    "identities",
    metadata,
    *columns(identity=64, team=240),
    sa.PrimaryKeyConstraint("identity"),
    sa.ForeignKeyConstraint(["team"], ["teams.key"]),
)
# The current submission of an entry on a set is the one that the board shows: the one that its team chose, or else the
# last one that was scored. The outputs are a digest of all that the file says, to find it again. Scores
# disclosed counts those that the set's key gave for the file; best is the ladder's step: a rounded share, or null.
submissions = Table(
    "submissions",
    metadata,
    *columns(
        id=32,
        set=40,
        entry=12,
        team_key=240,
        team=80,
        model=80,
        link=300,
        access=10,
        size_=sa.Float,
        released_=sa.Date,
        file=64,
        file_name=100,
        bytes=sa.Integer,
        channel=20,
        received=Moment,
        status=10,
        attempts=sa.Integer,
        finished_=Moment,
        problems=sa.JSON,
        removed=sa.Text,
        current=sa.Boolean,
        outputs_=sa.LargeBinary,
        scores_disclosed=sa.Integer,
        best_=sa.Float,
        chosen=sa.Boolean,
        private=sa.Boolean,
    ),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["set"], ["sets.name"]),
    sa.Index(None, "entry"),
    sa.Index(None, "status"),
    sa.Index(None, "team_key", "set", "received"),
)
# A submission that is scored anew gets another run; old ones stay. The result is everything, unrounded: it is never
# shown of a hidden set. The split is the one that was scored, or empty for the whole key. The digest is that of the
# scores (`state.run_digest`).
runs = Table(
    "runs",
    metadata,
    *columns(
        id=sa.Integer,
        submission=32,
        scored=Moment,
        short=8,
        signature=sa.Text,
        result=sa.JSON,
        split=10,
        digest=64,
    ),
    sa.PrimaryKeyConstraint("id"),
    sa.ForeignKeyConstraint(["submission"], ["submissions.id"]),
    sa.Index(None, "submission"),
)
# The mode is the value of the task's axis: of a multiple-choice benchmark (MCQ) a language. The estimates and the
# difference hold metric to value, low and high, unrounded. See CellOutcome for the others.
cells = Table(
    "cells",
    metadata,
    *columns(
        run=sa.Integer,
        mode=10,
        view=10,
        set=40,
        short=8,
        ranked=sa.Boolean,
        estimates=sa.JSON,
        difference_=sa.JSON,
        hits=sa.LargeBinary,
    ),
    sa.PrimaryKeyConstraint("run", "mode", "view"),
    sa.ForeignKeyConstraint(["run"], ["runs.id"]),
    sa.Index(None, "set", "mode", "view", "short"),
)
# What ranks models: of each cell the sums of the metric that ranks, in every sign flip of images.
sign_flips = Table(
    "sign_flips",
    metadata,
    *columns(run=sa.Integer, mode=10, view=10, sums=sa.LargeBinary),
    sa.PrimaryKeyConstraint("run", "mode", "view"),
    sa.ForeignKeyConstraint(["run"], ["runs.id"]),
)
# Of each ranked cell its pairs with those that were ranked when it came: their runs, and the statistics of the pairs.
# Cells came in the order of their places.
pair_statistics = Table(
    "pair_statistics",
    metadata,
    *columns(run=sa.Integer, mode=10, view=10, place=sa.Integer, others=sa.LargeBinary, statistics=sa.LargeBinary),
    sa.PrimaryKeyConstraint("run", "mode", "view"),
    sa.ForeignKeyConstraint(["run"], ["runs.id"]),
)
# Of each ranking the largest statistic of all pairs in every flip; stale where one of them may be of a pair that is
# ranked no more. Changes counts how often the row was written.
rankings = Table(
    "rankings",
    metadata,
    *columns(set=40, mode=10, view=10, short=8, maxima=sa.LargeBinary, stale=sa.Boolean, changes=sa.Integer),
    sa.PrimaryKeyConstraint("set", "mode", "view", "short"),
)
# What intervals of differences are made of: of each shown metric of a cell its mean, with the means of its resamples.
means = Table(
    "means",
    metadata,
    *columns(run=sa.Integer, mode=10, view=10, metric=20, means=sa.LargeBinary),
    sa.PrimaryKeyConstraint("run", "mode", "view", "metric"),
    sa.ForeignKeyConstraint(["run"], ["runs.id"]),
)
# Of each table that the board shows the sum of its rows (`state`).
row_sums = Table("row_sums", metadata, *columns(name=40, sum=sa.LargeBinary), sa.PrimaryKeyConstraint("name"))
# The state has digests of all that the board shows after the line (`state.state_digests`).
events = Table(
    "events",
    metadata,
    Column("number", sa.Integer, primary_key=True, autoincrement=False),
    *columns(at=Moment, actor=100, what=40, subject=100, facts=sa.JSON, state=sa.JSON, chain=64),
)
reported = Table(
    "reported_results",
    metadata,
    *columns(
        number=sa.Integer,
        source=300,
        url=300,
        data=300,
        items_=sa.Integer,
        language=20,
        mode=10,
        view=10,
        model=80,
        access=10,
        size_=sa.Float,
        released_=sa.Date,
        exact_=sa.Float,
        exact_sd_=sa.Float,
        jaccard_=sa.Float,
        jaccard_sd_=sa.Float,
        rae_=sa.Float,
        lbs_=sa.Float,
        corrected=300,
        note=300,
    ),
    sa.PrimaryKeyConstraint("number"),
)
# Scores of the raters of a study, on the data that the set had when the file was imported.
human_baselines = Table(
    "human_baselines",
    metadata,
    *columns(
        study=16,
        set=40,
        data=64,
        mode=10,
        view=10,
        raters=sa.Integer,
        items=sa.Integer,
        spans=sa.Integer,
        exact=sa.Float,
        low=sa.Float,
        high=sa.Float,
        sd_=sa.Float,
    ),
    sa.PrimaryKeyConstraint("study", "set", "mode", "view"),
)
# Scores of the template baseline, on the data that the set had when its outputs were imported.
pixel_baselines = Table(
    "pixel_baselines",
    metadata,
    *columns(
        set=40,
        data=64,
        mode=10,
        images=sa.Integer,
        spans=sa.Integer,
        unread=sa.Integer,
        exact=sa.Float,
        low=sa.Float,
        high=sa.Float,
        bits_=sa.Float,
        bits_p10_=sa.Float,
        below_one_bit_=sa.Float,
        signature=sa.Text,
    ),
    sa.PrimaryKeyConstraint("set", "mode"),
)

# The database itself keeps the log from being changed.
_SQLITE_TRIGGERS = [
    f"CREATE TRIGGER events_stay_{what} BEFORE {what} ON events "
    "BEGIN SELECT RAISE(ABORT, 'the log is never changed'); END"
    for what in ("UPDATE", "DELETE")
]
_POSTGRES_TRIGGERS = [
    "CREATE FUNCTION events_stay() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the log is never changed'; END $$",
    "CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION events_stay()",
    "CREATE TRIGGER events_stay_whole BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION events_stay()",
]
for _dialect, _triggers in (("sqlite", _SQLITE_TRIGGERS), ("postgresql", _POSTGRES_TRIGGERS)):
    for _trigger in _triggers:
        sa.event.listen(events, "after_create", sa.DDL(_trigger).execute_if(dialect=_dialect))  # type: ignore[no-untyped-call]
