"""The one place where things are wired together: from a database URL and a list of apps to a store and a
worker.
"""

import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl

from thresher.ai.provider import Provider
from thresher.ai.providers import open_provider
from thresher.config.apps import FILE_NAME, load_apps
from thresher.config.models import Models
from thresher.config.notify import Notify
from thresher.config.outward import Outward
from thresher.config.platforms import install_platforms
from thresher.config.project import DEFAULT_DATABASE, Project, check_server, hide_password
from thresher.config.settings import Settings, catalogue_of
from thresher.core.answer import Extract
from thresher.core.app import App, events_by_kind
from thresher.core.backoff import Retry
from thresher.core.clock import SECOND, Clock, to_us
from thresher.core.compute import Compute, compute_in_thread
from thresher.core.credentials import Credentials
from thresher.core.errors import ConfigError, DatabaseProblem, ThresherError
from thresher.core.gate import GateLimits, interval_us
from thresher.core.page import Page
from thresher.core.redaction import learn_secrets
from thresher.core.rendering import Rendering
from thresher.core.schema import Schema
from thresher.core.spans import Spans
from thresher.engine.calendar import check, next_firing
from thresher.engine.page_cache import StorePageCache
from thresher.engine.process_pool import ProcessPool, note_stopped, opened_pool
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services
from thresher.engine.worker import Worker
from thresher.fetch.agent import agent_of
from thresher.fetch.browser import Browser
from thresher.fetch.egress import read_proxy
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.governor import FetchOptions, Ungoverned
from thresher.fetch.guard import Guard
from thresher.fetch.request import BeforeSend, Bounds, Request, Response, Transport, order
from thresher.fetch.resolver import EgressResolver, MappedResolver, Resolver, SystemResolver
from thresher.fetch.traffic import FetchTraffic
from thresher.notify.notifier import Notifier
from thresher.store import sources
from thresher.store.app_migrations import (
    APPS_SINCE,
    app_schemas,
    check_apps_not_newer,
    migrate_apps,
    pending_of_apps,
    record_kinds,
    versions,
)
from thresher.store.backend import Backend
from thresher.store.copying import Copied, Told, copy_all
from thresher.store.migrate import check_up_to_date, pending, version_now
from thresher.store.schedules import Plan, drop_plans, save_plan
from thresher.store.session import SQLITE
from thresher.store.settings import settings_in_force
from thresher.store.sqlite.backend import SqliteBackend
from thresher.store.sqlite.connection import DURABILITY
from thresher.store.store import Store

if TYPE_CHECKING:
    from thresher.ai.ask import Advisor


# A transport that is made when the first request goes out: its library takes half a second to load, and
# many a worker never fetches.


class LateTransport:
    """Stands for the one that `make` will make."""

    def __init__(self, make: Callable[[], Transport]) -> None:
        self._make = make
        self._made: Transport | None = None

    async def send(self, request: Request, bounds: Bounds, before_send: BeforeSend | None = None) -> Response:
        self._made = self._made or self._make()
        return await self._made.send(request, bounds, before_send)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()


T = TypeVar("T")

PROMPTS = "prompts"  # a project's own prompts, in this folder
NO_KEY = "no_key"
# A turn waits for its socket on the event loop; the loop of Windows cannot.
NO_WINDOWS = (
    "PostgreSQL is supported on Linux and macOS. On Windows use SQLite (--database sqlite:///thresher.db), "
    "or run Thresher in WSL or in a container."
)
POSTGRES_THREADS = 4
BEAT_SHARE = 1 / 4  # of a lease: a heartbeat whose connection is dead must still have the time to use another
PUMPS = {"sqlite": 1, "postgres": 2}


def open_backend(url: str, *, clock: Clock | None = None, connections: int = 8) -> Backend:
    """The backend that a URL names."""
    scheme = _scheme(url)
    if scheme == "sqlite":
        path, durability = _sqlite_words(url)
        return SqliteBackend(path, durability=durability, clock=clock)
    if scheme in ("postgresql", "postgres"):
        if sys.platform == "win32":
            raise ConfigError(NO_WINDOWS)
        try:
            from thresher.store.postgres.backend import PostgresBackend  # noqa: PLC0415  an extra, and slow to import
            from thresher.store.postgres.connection import check_reachable  # noqa: PLC0415
        except ImportError:
            raise ConfigError("PostgreSQL needs its driver: pip install 'thresher[postgres]'") from None
        check_server(url)
        check_reachable(url)
        return PostgresBackend(url, clock=clock, connections=connections)
    raise ConfigError(
        "the database must be a URL such as sqlite:///thresher.db or postgresql://host/name, got "
        f"{hide_password(url)!r}"
    )


def _scheme(url: str) -> str:
    # Not by urlsplit: what it says about a URL that it cannot read quotes the password.
    return url.partition(":")[0].lower()


def _sqlite_words(url: str) -> tuple[str, str]:
    rest, _, query = url.removeprefix("sqlite:").partition("?")
    path = rest.removeprefix("///") if rest.startswith("///") else rest.removeprefix("//")
    durability = dict(parse_qsl(query)).get("durability", "machine")
    if durability not in DURABILITY:
        raise ConfigError(f"durability must be one of {', '.join(DURABILITY)}, got {durability!r}")
    return path or ":memory:", durability


def open_store(
    url: str,
    project: Project | None = None,
    apps: Iterable[App] = (),
    *,
    migrate: bool = True,
    apps_are_missing: bool = False,
    clock: Clock | None = None,
) -> Store:
    """Open a store that is ready to use: its schema up to date, its settings read.

    Without `migrate` nothing is made or changed. `apps_are_missing`: an app of the project could not be
    loaded, so settings and keys of unknown apps in the project file are no error.
    """
    apps = tuple(apps)
    catalogue = catalogue_of(apps)  # before the database: a wrong project file must not cost a migration
    given = project.checked_settings(catalogue, apps_are_missing=apps_are_missing) if project else {}
    if project and not apps_are_missing:
        project.check_sections(apps)
    store = open_bare(url, clock=clock, create=migrate)
    try:
        _prepare(store, apps, migrate=migrate)
        store.project_settings, store.settings = given, Settings(given, catalogue)
        if apps:  # else nobody has said what is written here
            store.app_events = events_by_kind(apps)
        with store.read() as session:
            store.settings = settings_in_force(store, session)
    except BaseException:
        store.close()
        raise
    return store


def open_bare(url: str, *, clock: Clock | None = None, create: bool = False) -> Store:
    """A store on whatever schema is there. Without `create` a file that does not exist is not made."""
    file = database_file(url)
    if not create and file and not file.exists():
        if file.name == Path(DEFAULT_DATABASE).name and not (file.parent / FILE_NAME).exists():
            raise DatabaseProblem(
                f"there is neither {FILE_NAME} nor a database in {file.parent.resolve()}: go to the folder of your "
                "project, or name it with --project FOLDER; to begin a project here: thresher init"
            )
        raise DatabaseProblem(
            f"there is no database {file} yet; create it with: thresher migrate (thresher run and thresher up do it too)"
        )
    backend = open_backend(url, clock=clock)
    return Store(backend, threads=1 if backend.dialect.name == "sqlite" else POSTGRES_THREADS)


def read_settings(store: Store, project: Project, registry: Registry) -> None:
    """Give a bare store the settings in force, as far as they can be read: an app's checks ask for its own.

    A wrong project file or a schema that is not up to date is told elsewhere; then the defaults hold.
    """
    catalogue = registry.settings.catalogue
    store.settings = Settings((), catalogue)
    with suppress(ThresherError):
        store.project_settings = project.checked_settings(catalogue, apps_are_missing=True)
        with store.read() as session:
            store.settings = settings_in_force(store, session)


def database_file(url: str) -> Path | None:
    """The file that a URL names, if it names one."""
    if _scheme(url) != "sqlite":
        return None
    path = _sqlite_words(url)[0]
    return None if path == ":memory:" else Path(path)


def migrate_database(url: str, apps: Iterable[App] = ()) -> list[str]:
    """Bring a database up to date, from nothing or from any earlier schema: the machine's tables, then those
    of the apps. Returns the names of the steps applied.
    """
    with closing(open_bare(url, create=True)) as store:
        schemas = app_schemas(apps, store.backend.dialect)
        return store.backend.migrate() + migrate_apps(store.backend, schemas)


def pending_migrations(url: str, apps: Iterable[App] = ()) -> list[str]:
    """The steps a database still lacks. Makes and changes nothing."""
    file = database_file(url)
    if file and not file.exists():
        return pending(None, SQLITE) + pending_of_apps(None, app_schemas(apps, SQLITE))
    with closing(open_bare(url)) as store, store.read() as session:
        schemas = app_schemas(apps, store.backend.dialect)
        missing = pending(session, store.backend.dialect)
        has_apps = version_now(session, store.backend.dialect) >= APPS_SINCE
        return missing + pending_of_apps(session if has_apps else None, schemas)


def copy_database(url: str, to: str, apps: Iterable[App], told: Told) -> Copied:
    """Copy a database into an empty one, which is made. A new file that could not be filled is removed
    again.
    """
    file = database_file(to)
    if file is None and _scheme(to) == "sqlite":
        raise ConfigError("--to needs a file: a database in memory is gone when the command ends")
    is_new = file is not None and not file.exists()
    with closing(open_bare(url)) as source:
        with source.read() as session:
            check_up_to_date(session, source.backend.dialect)
            have = versions(session)
        with closing(open_bare(to, create=True)) as target:
            schemas = app_schemas([app for app in apps if app.name in have], target.backend.dialect)
            try:
                return copy_all(source.backend, target.backend, schemas, told, hide_password(to))
            except BaseException:
                if file is not None and is_new:
                    target.close()
                    for ending in ("", "-wal", "-shm", "-turn"):
                        Path(f"{file}{ending}").unlink(missing_ok=True)
                raise


def _prepare(store: Store, apps: Iterable[App], *, migrate: bool) -> None:
    store.app_schemas = app_schemas(apps, store.backend.dialect)  # read before anything is changed
    if migrate:
        store.backend.migrate()
        migrate_apps(store.backend, store.app_schemas)
        return
    with store.read() as session:
        check_up_to_date(session, store.backend.dialect)
        check_apps_not_newer(session, store.app_schemas)  # older ones are for `migrate`: looking needs no app


@contextmanager
def opened_store(
    url: str, project: Project | None = None, apps: Iterable[App] = (), **how: Any
) -> Iterator[Store]:
    """A store for the length of a block. `how` goes to `open_store`."""
    store = open_store(url, project, apps, **how)
    try:
        yield store
    finally:
        store.close()


@dataclass(frozen=True, slots=True)
class Runtime:
    """A store, the apps that work on it, how they go out to the web, and which models they may ask with which
    prompts of their own.
    """

    store: Store
    registry: Registry
    outward: Outward = field(default_factory=Outward)
    models: Models = field(default_factory=Models)
    prompts: Path | None = None
    notify: Notify = field(default_factory=Notify)
    traffic: FetchTraffic = field(default_factory=FetchTraffic)  # of this process, for monitoring
    spans: Spans | None = None  # where a worker and a server tell how long something took


@contextmanager
def opened_runtime(url: str, project: Project, named: Iterable[str] = ()) -> Iterator[Runtime]:
    """The apps of a project on their database, with what they declare installed, for the length of a
    block.
    """
    learn_secrets(project.secrets)
    registry = project_registry(
        project, named
    )  # first: an app that cannot be loaded must not cost a migration
    install_platforms(project.folder)
    with opened_store(url, project, registry.apps) as store:
        install(store, registry)
        for app in registry.apps:
            if app.declare is not None:
                app.declare(store, project.declaration(app))
        install_models(store, project.models)
        yield Runtime(
            store, registry, project.fetch, project.models, project.folder / PROMPTS, project.notify
        )


def project_registry(
    project: Project, named: Iterable[str] = (), problems: list[ThresherError] | None = None
) -> Registry:
    """Collect the kinds of task that a project's apps know.

    An app that cannot be loaded is an error; with `problems` the error is put there and the app left out.
    """
    apps = load_apps(project.apps, project.folder, named, problems)
    if not problems:  # else nobody knows whose a key is
        project.check_sections(apps)
    strange = project.retry.keys() - {app.name for app in apps}
    if strange and not problems:
        known = ", ".join(sorted(app.name for app in apps)) or "none"
        raise ConfigError(
            f"retry names {', '.join(sorted(strange))}, which is not an app of this project; its "
            f"apps are: {known}"
        )
    apps = [app.with_retry(project.retry.get(app.name, Retry()).over(app.retry or Retry())) for app in apps]
    return Registry(apps, tiers=model_gates(project))


def model_gates(project: Project) -> dict[str, str]:
    """The gate of the provider that serves each tier of models."""
    return {name: project.models.providers[tier.provider].gate for name, tier in project.models.tiers.items()}


def install(store: Store, registry: Registry) -> None:
    """Make the sources and schedules that the apps declare. What a person has changed since is left alone."""
    store.apps, store.app_events = frozenset(app.name for app in registry.apps), registry.events
    install_sources(store, registry)
    for app in registry.apps:
        with store.write() as session:
            drop_plans(session, app.name, [schedule.name for schedule in app.schedules])
        for schedule in app.schedules:
            check(schedule.cron, schedule.every, schedule.timezone, schedule.missed)
            every = None if schedule.every is None else to_us(schedule.every)
            with store.write() as session:
                first = next_firing(
                    store.backend.now(session), cron=schedule.cron, every_us=every, timezone=schedule.timezone
                )
                entry = registry.admit(schedule.task)
                save_plan(
                    session,
                    Plan(
                        schedule.name,
                        app.name,
                        entry,
                        schedule.cron,
                        every,
                        schedule.timezone,
                        schedule.missed,
                        first,
                    ),
                )


def install_sources(store: Store, registry: Registry) -> None:
    """Make the sources that the apps declare: all that a task needs to be accepted."""
    registry.settings = store.settings
    record_kinds(store.backend, registry.apps)
    for app in registry.apps:
        for source in app.sources:
            limits = GateLimits(
                source.in_flight,
                interval_us(source.rate),
                source.burst,
                source.trip_after,
                to_us(source.cooldown),
            )
            sources.add_source(store, source.name, limits, app.name)


def install_models(store: Store, models: Models) -> None:
    """Make each provider a source. One without its key is closed, so that who needs it waits; with the key it
    opens by itself.
    """
    for thinker in models.providers.values():
        open_provider(thinker)  # says at once what is not installed; nothing is loaded or sent yet
        limits = GateLimits(
            thinker.in_flight,
            interval_us(thinker.rate),
            trip_after=store.settings.count("breaker.trip_after"),
            cooldown_us=store.settings.us("breaker.cooldown"),
        )
        sources.add_source(store, thinker.name, limits)
        with store.read() as session:
            (gate,) = sources.find_gates(session, name=thinker.gate)
        if thinker.keyless and gate["closed_tag"] is None:
            where = (
                f"set the variable {thinker.key_name}"
                if thinker.key_name
                else f"give models.providers.{thinker.name} a key"
            )
            sources.disable(
                store, thinker.gate, NO_KEY, f"there is no key for {thinker.name}: {where} and start again"
            )
        elif not thinker.keyless and gate["closed_tag"] == NO_KEY:
            sources.resume(store, thinker.gate)


def heartbeat_for(store: Store, url: str) -> Store:
    """A second way to the same database, for heartbeats; one in memory exists once and is shared."""
    in_memory = isinstance(store.backend, SqliteBackend) and store.backend.in_memory
    if in_memory:
        return store
    beat = Store(open_backend(url, connections=2), settings=store.settings)
    beat.backend.patience = float(store.settings["worker.lease"]) * BEAT_SHARE
    return beat


@contextmanager
def opened_beside(runtime: Runtime, url: str, project: Project) -> Iterator[Runtime]:
    """The same apps with connections of their own to the same database, which is up to date; one in memory
    exists once and is shared.
    """
    ours = runtime.store
    if isinstance(ours.backend, SqliteBackend) and ours.backend.in_memory:
        yield runtime
        return
    with opened_store(url, project, runtime.registry.apps, migrate=False) as store:
        store.apps = ours.apps
        yield replace(runtime, store=store, registry=copy(runtime.registry))


@contextmanager
def opened_worker(runtime: Runtime, url: str, *, until_idle: bool = False, **how: Any) -> Iterator[Worker]:
    """A worker for the length of a block. Its heartbeat has a connection of its own, closed after it. `how`
    goes to the worker.
    """
    beat = heartbeat_for(runtime.store, url)
    patience = _patience(runtime.store) if until_idle else 0.0
    try:
        pumps = PUMPS[runtime.store.backend.dialect.name]
        providers = {name: open_provider(thinker) for name, thinker in runtime.models.providers.items()}
        pool = ProcessPool(lambda: runtime.store.settings, partial(note_stopped, runtime.store))
        stage_pool = ProcessPool(lambda: runtime.store.settings, partial(note_stopped, runtime.store))
        fetcher = make_fetcher(
            runtime.outward, lambda: runtime.store.settings, runtime.store, pool.run, runtime.traffic
        )
        services = Services(
            fetcher,
            make_advisor(runtime, providers),
            providers,
            Notifier(runtime.notify.urls, runtime.notify.unset),
            pool,
            stage_pool,
            runtime.spans,
        )
        yield Worker(
            runtime.store,
            runtime.registry,
            heartbeat_store=beat,
            pumps=pumps,
            until_idle=until_idle,
            patience=patience,
            services=services,
            **how,
        )
    finally:
        if beat is not runtime.store:
            beat.close()


def make_advisor(runtime: Runtime, providers: Mapping[str, Provider]) -> "Advisor":
    """Who asks the models of a project. Without any it says so to whoever asks."""
    from thresher.ai.ask import Advisor  # noqa: PLC0415  only workers ask, and it brings all the readers along
    from thresher.ai.prices import Prices  # noqa: PLC0415
    from thresher.ai.prompt import Library  # noqa: PLC0415

    return Advisor(
        providers,
        runtime.models.tiers,
        Prices(runtime.models),
        Library(runtime.prompts, runtime.registry.apps),
        lambda: runtime.store.settings,
    )


def make_fetcher(
    outward: Outward,
    settings: Callable[[], Settings],
    store: Store | None = None,
    compute: Compute = compute_in_thread,
    traffic: FetchTraffic | None = None,
) -> Fetcher:
    """The one way out to the web, as a project wants it. It belongs to one event loop, and whoever has it
    closes it there.

    Pages are kept in the store, if there is one. `compute` is where they are parsed.
    """
    agent, guard = agent_of(outward.user_agent, outward.contact), Guard(outward.allow)
    resolver = make_resolver(outward, guard, SystemResolver())
    browser = Browser(settings().count("browser.in_flight"), resolver, guard, agent=agent.header)
    page_cache = None if store is None else StorePageCache(store)
    transport = LateTransport(lambda: _transport(outward, resolver, guard))
    return Fetcher(
        transport,
        guard,
        agent,
        settings=settings,
        page_cache=page_cache,
        browser=browser,
        compute=compute,
        traffic=traffic,
    )


def make_resolver(outward: Outward, guard: Guard, names: Resolver) -> Resolver:
    """How a project finds hosts: by its own map, else through its proxy, else by `names`."""
    if outward.proxy is not None:
        names = EgressResolver(read_proxy(outward.proxy), names, guard.is_named)
    return MappedResolver(outward.resolve, names)


def _transport(outward: Outward, resolver: Resolver, guard: Guard) -> Transport:
    if outward.http2:
        from thresher.fetch.http2 import Http2Transport  # noqa: PLC0415  these two load slowly, and only one is needed

        return Http2Transport(resolver, guard)
    from thresher.fetch.http import HttpTransport  # noqa: PLC0415

    return HttpTransport(resolver, guard)


@asynccontextmanager
async def opened_fetcher(project: Project, settings: Settings | None = None) -> AsyncIterator[Fetcher]:
    """A fetcher for the length of a block."""
    found = settings or project.machine_settings()
    async with opened_pool(found) as pool:
        fetcher = make_fetcher(project.fetch, lambda: found, compute=pool.run)
        try:
            yield fetcher
        finally:
            await fetcher.close()


@asynccontextmanager
async def direct_fetch(runtime: Runtime) -> "AsyncIterator[DirectFetch]":
    """The way out for one look that a person asks a server for. Its page is parsed on a thread: no process is
    started for it.
    """
    fetcher = make_fetcher(runtime.outward, lambda: runtime.store.settings)
    try:
        yield DirectFetch(fetcher)
    finally:
        await fetcher.close()


@dataclass(frozen=True, slots=True)
class DirectFetch:
    """Fetch as a stage does, at a person's own request: no gates and nothing kept, but the guard and
    robots.txt hold.
    """

    fetcher: Fetcher

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] = {},
        body: bytes = b"",
        render: bool | None = False,
        rendering: Rendering | None = None,
        max_age: float | None = None,
        replay: bool = False,
        credentials: Credentials | None = None,
    ) -> Page:
        del max_age, replay  # there is no page cache
        request = order(url, method=method, headers=headers, body=body, credentials=credentials)
        return await self.fetcher.fetch(
            request, FetchOptions(Ungoverned(), render=render, rendering=rendering)
        )

    async def compute(self, function: Callable[..., T], /, *args: object, seconds: float | None = None) -> T:
        return await self.fetcher.compute(function, *args, seconds=seconds)


async def read_once(project: Project, function: Callable[..., T], /, *args: object) -> T:
    """Compute something from a page, by hand and without a database: in a process that is killed at the
    limits of the project.
    """
    async with opened_pool(project.machine_settings()) as pool:
        return await pool.run(function, *args)


async def fetch_once(
    project: Project, url: str, *, render: bool | None = False, rendering: Rendering | None = None
) -> Page:
    """One page, by hand and without a database: no gates and nothing kept, but the guard and robots.txt
    hold.
    """
    async with opened_fetcher(project) as fetcher:
        return await fetcher.fetch(order(url), FetchOptions(Ungoverned(), render=render, rendering=rendering))


def check_address(outward: Outward, url: str) -> None:
    """Refuse an address that could never be fetched, before anything is looked up or stored. Raises
    `Refused`.
    """
    Guard(outward.allow).check_url(url)


async def extract_once(project: Project, page: Page, schema: Schema) -> Extract:
    """What a page says of itself, by hand and without a database: in its data, or in rows that look alike.
    No model is asked.
    """
    from thresher.engine.reader import declared_extract  # noqa: PLC0415  it brings all the readers along

    return await read_once(project, declared_extract, schema, page)


def _patience(store: Store) -> float:
    """A run does not end because a gate keeps to its rate: that is its ordinary work."""
    with store.read() as session:
        slowest = sources.longest_interval(session)
    return (
        max(float(store.settings["run.patience"]), float(store.settings["host.interval"]), slowest / SECOND)
        + 1.0
    )
