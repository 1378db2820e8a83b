"""The tables of apps. An app numbers its own migrations (`App.migrations`); they are applied after the
machine's, each in one transaction, and recorded by the app's name. Several processes may do it at once.

Disabling an app leaves its tables and their record alone; a process that does not know the app never looks at
them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from thresher.core.app import App
from thresher.core.errors import ConfigError, DatabaseProblem, NewerSchema
from thresher.core.named import load_folder
from thresher.store.backend import Backend
from thresher.store.migrate import FILE, Migration, filled, machine_names, statements
from thresher.store.session import Dialect, Session

# The machine's migration that made the tables below.
APPS_SINCE = 19
# The words in which the databases differ, for migrations of apps.
WORDS = ("identity", "compact", "bytes", "postgres", "sqlite")
_VERSIONS = "select app, max(number) from app_migrations group by app"
_RECORD = "insert into app_migrations (app, number, name, applied_at) values (:app, :number, :name, :now)"
_KINDS = "select kind, app from app_kinds"
_KIND = "insert into app_kinds (kind, app) values (:kind, :app) on conflict (kind) do update set app = excluded.app"

# What a migration of an app may do: one pattern a form, each with the name that it makes or changes.
_NAME = r"(?P<name>[a-z_][a-z0-9_]*)(?![\w.\"])"
_FORMS = tuple(
    re.compile(form.replace("NAME", _NAME))
    for form in (
        r"create table (?:if not exists )?NAME",
        r"create (?:unique )?index (?:if not exists )?(?P<index>[a-z_][a-z0-9_]*) on NAME",
        r"create view NAME as ",
        r"alter table NAME",
        r"drop (?:table|index|view) (?:if exists )?NAME$",
        r"insert into NAME",
        r"update NAME",
        r"delete from NAME",
    )
)
_FORBIDDEN = re.compile(r"(?<!on delete )(?<!on update )\b(?:cascade|concurrently)\b")
_REFERENCES = re.compile(r"\breferences ([a-z_][a-z0-9_]*)")
_TEXT = re.compile(r"'(?:[^']|'')*'")
_MADE = re.compile(r"create (?:table|view|(?:unique )?index) (?:if not exists )?(\w+)|rename to (\w+)")


@dataclass(frozen=True, slots=True)
class AppSchema:
    """The migrations of one app, from the first."""

    app: str
    steps: tuple[Migration, ...]

    @property
    def newest(self) -> int:
        return len(self.steps)


def app_schemas(apps: Iterable[App], dialect: Dialect) -> tuple[AppSchema, ...]:
    """Read and check the migrations of these apps; those without any are left out."""
    words = {name: dialect.words[name] for name in WORDS}
    found: list[AppSchema] = []
    makers: dict[str, str] = {}
    for app in apps:
        if app.migrations is None:
            continue
        schema = AppSchema(app.name, tuple(_steps(app, words)))
        if any(other.app == app.name for other in found):
            raise ConfigError(f"two apps named {app.name!r} have migrations; rename one of them")
        for made in sorted(made_by(schema)):
            if made in makers:
                raise ConfigError(
                    f"{made!r} is created by the migrations of app {makers[made]!r} and of app "
                    f"{app.name!r}; rename one of them"
                )
            makers[made] = app.name
        found.append(schema)
    return tuple(found)


def made_by(schema: AppSchema) -> set[str]:
    """The names of all tables, views and indexes that an app ever made."""
    sql = " ".join(_skeleton(text) for step in schema.steps for text in statements(step.sql))
    return {made or renamed for made, renamed in _MADE.findall(sql)}


def _steps(app: App, words: Mapping[str, str]) -> Iterable[Migration]:
    where = app.migrations
    assert where is not None
    texts = _texts(where)
    if not texts:
        raise ConfigError(
            f"app {app.name!r} has migrations={str(where)!r}, but there are no files such as 0001_first.sql"
        )
    for at, (number, name, text) in enumerate(texts, start=1):
        label = f"migration {number:04}_{name} of app {app.name!r}"
        if number != at:
            raise ConfigError(f"{label} is out of order; number migrations 0001, 0002, ... without a gap")
        step = Migration(number, name, filled(text, words))
        try:
            for sql in statements(step.sql):
                _check(sql)
        except ValueError as problem:
            raise ConfigError(f"{label} {problem}") from None
        yield step


@cache
def _texts(where: str | Path) -> tuple[tuple[int, str, str], ...]:
    folder = load_folder(where, "migrations")
    if not folder.is_dir():
        return ()
    found = ((FILE.fullmatch(file.name), file) for file in folder.iterdir())
    return tuple(
        sorted((int(match[1]), match[2], file.read_text(encoding="utf-8")) for match, file in found if match)
    )


def _skeleton(sql: str) -> str:
    """A statement without its texts, on one line, in small letters."""
    return " ".join(_TEXT.sub("''", sql).lower().split())


def _check(sql: str) -> None:
    """Refuse what an app may not do to a database that it shares."""
    plain = _skeleton(sql)
    form = next((match for each in _FORMS if (match := each.match(plain))), None)
    shown = plain if len(plain) <= 60 else f"{plain[:57]}..."
    if form is None:
        raise ValueError(
            f"has a statement that is not allowed: {shown!r}. Allowed are create table, index and view, alter table, "
            "drop table, index and view (one each), insert into, update and delete from, with plain names"
        )
    if forbidden := _FORBIDDEN.search(plain):
        raise ValueError(f"uses {forbidden[0]!r}, which is not allowed: {shown!r}")
    machine = machine_names()
    if (name := form["name"]) in machine:
        raise ValueError(f"changes {name!r}, which belongs to Thresher itself: {shown!r}")
    if taken := [name for name in _REFERENCES.findall(plain) if name in machine]:
        raise ValueError(
            f"references {taken[0]!r}, which belongs to Thresher itself and is pruned; keep the id without a foreign key"
        )


def versions(session: Session) -> dict[str, int]:
    """The number of the newest migration of each app that ever had one here."""
    return {app: int(number) for app, number in session.rows(_VERSIONS)}


def check_apps_not_newer(session: Session, schemas: Sequence[AppSchema]) -> None:
    """Refuse a database in which a newer version of one of these apps has migrated its tables."""
    if schemas:
        _check_not_newer(versions(session), schemas)


def pending_of_apps(session: Session | None, schemas: Sequence[AppSchema]) -> list[str]:
    """Return the names of the app migrations that a database lacks."""
    have = versions(session) if session and schemas else {}
    _check_not_newer(have, schemas)
    return [_label(each, step) for each in schemas for step in each.steps[have.get(each.app, 0) :]]


def migrate_apps(backend: Backend, schemas: Sequence[AppSchema]) -> list[str]:
    """Apply what is missing, the machine's tables being up to date; the names of the steps applied.

    A step that fails is undone whole and ends it. Steps before it stay. A database that is up to date is only
    read.
    """
    if not schemas:
        return []
    with backend.read() as session:
        have = versions(session)
    _check_not_newer(have, schemas)
    applied = []
    for schema in schemas:
        for _ in range(have.get(schema.app, 0), schema.newest):
            step = _apply_next(backend, schema)
            if step is None:
                break  # another process was faster
            applied.append(_label(schema, step))
    return applied


def _apply_next(backend: Backend, schema: AppSchema) -> Migration | None:
    with backend.migrating() as session:
        have = versions(session)
        _check_not_newer(have, [schema])
        at = have.get(schema.app, 0)
        if at == schema.newest:
            return None
        _apply(backend, session, schema, schema.steps[at])
        return schema.steps[at]


def migrate_apps_within(
    backend: Backend, session: Session, schemas: Sequence[AppSchema], have: Mapping[str, int]
) -> None:
    """Make the tables that these apps had at these migrations, in a transaction of the caller's.

    An app that is not among `schemas` is refused by name, and so is an older one.
    """
    known = {schema.app: schema for schema in schemas}
    if strange := sorted(have.keys() - known.keys()):
        raise DatabaseProblem(
            f"the database has tables of apps that cannot be loaded here: {', '.join(strange)}. Install them, or name their "
            "file or module with --app"
        )
    _check_not_newer(have, schemas)
    for app in sorted(have):
        for step in known[app].steps[: have[app]]:
            _apply(backend, session, known[app], step)


def _apply(backend: Backend, session: Session, schema: AppSchema, step: Migration) -> None:
    for sql in statements(step.sql):
        _run(session, schema, step, sql)
    session.run(
        _RECORD,
        {"app": schema.app, "number": step.number, "name": step.name, "now": backend.now(session)},
    )


def _run(session: Session, schema: AppSchema, step: Migration, sql: str) -> None:
    try:
        session.run(sql)
    except Exception as problem:
        shown = " ".join(sql.split())
        raise DatabaseProblem(
            f"migration {step.number:04}_{step.name} of app {schema.app!r} failed and was rolled "
            f"back: {str(problem).strip()} in: "
            f"{shown if len(shown) <= 120 else shown[:117] + '...'}. Fix the app, or run without it: "
            f"remove {schema.app!r} from apps: in thresher.yaml"
        ) from problem


def _label(schema: AppSchema, step: Migration) -> str:
    return f"{schema.app} {step.name}"


def _check_not_newer(have: Mapping[str, int], schemas: Sequence[AppSchema]) -> None:
    for each in schemas:
        if have.get(each.app, 0) > each.newest:
            raise NewerSchema(
                f"the tables of app {each.app!r} are at migration {have[each.app]}, the installed app knows {each.newest}: a newer "
                "version of the app has migrated them. Upgrade the app; the data is untouched."
            )


def kinds_by_app(session: Session) -> dict[str, str]:
    """The app of each kind of task that was ever installed here."""
    return dict(session.rows(_KINDS))


def record_kinds(backend: Backend, apps: Iterable[App]) -> None:
    """Record which app owns these kinds. Write nothing if all of it is recorded already."""
    wanted = {pipeline.kind: app.name for app in apps for pipeline in app.pipelines}
    with backend.read() as session:
        known = kinds_by_app(session)
    changed = [{"kind": kind, "app": app} for kind, app in sorted(wanted.items()) if known.get(kind) != app]
    if changed:
        with backend.write() as session:
            session.many(_KIND, changed)
