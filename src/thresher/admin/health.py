"""The checks of `thresher doctor`: each reports what it found and what to do about it. None changes anything.

They cover the database, the queue, workers, models, notification targets, and how the project appears to the
sites it visits.
"""

import os
import platform
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from thresher.admin.gates import at_most, closed_gates, closed_sentence, unserved_sentences
from thresher.admin.status import deep_sentence, list_workers, refused_sentence
from thresher.ai.prices import Prices
from thresher.ai.providers import open_provider
from thresher.config.models import Models, Tier
from thresher.config.notify import Notify
from thresher.config.outward import Outward
from thresher.core.answer import DOLLAR
from thresher.core.app import App
from thresher.core.clock import DAY, SECOND, SystemClock, as_text, span
from thresher.core.errors import ConfigError, DatabaseProblem, ThresherError
from thresher.core.extension import Check, CheckLevel
from thresher.core.lineage import RefusalRule
from thresher.engine.registry import Registry
from thresher.fetch import chromium
from thresher.fetch.agent import agent_of
from thresher.fetch.egress import read_proxy
from thresher.fetch.guard import Guard
from thresher.notify.notifier import Notifier
from thresher.store import lanes, overview, repair
from thresher.store.app_migrations import app_schemas, kinds_by_app, versions
from thresher.store.migrate import newest, version_now
from thresher.store.overview import MAX_COUNTED
from thresher.store.schedules import read_plans
from thresher.store.settings import kept_settings
from thresher.store.sources import find_waived
from thresher.store.sqlite.connection import SAFE_VERSION, VERSION
from thresher.store.store import Store
from thresher.vectors.embedder import Embedder, missing_sentence, open_embedder

T = TypeVar("T")

PYTHON = (3, 11)
POSTGRES = 150_000
SKEW_SECONDS = 1.0
DISK_LOW = 1 << 30
DISK_GONE = 100 << 20
SNAPSHOT_SECONDS = 60.0
LOOK_AGAIN_SECONDS = 0.3


class Examination:
    """The checks so far. What raises becomes a failed check, and the examination goes on without it."""

    def __init__(self) -> None:
        self.checks: list[Check] = [
            _python(),
            check_system(sys.platform),
            _sqlite(),
            _browser(),
            check_embeddings(),
        ]

    def attempt(self, name: str, act: Callable[[], T], says: Callable[[T], str]) -> T | None:
        """Do something that must work; its error message is the finding and the advice in one."""
        try:
            done = act()
        except ThresherError as problem:
            self.checks.append(Check(name, CheckLevel.FAIL, str(problem)))
            return None
        self.checks.append(Check(name, CheckLevel.OK, says(done)))
        return done

    def fail(self, name: str, problems: Iterable[ThresherError]) -> None:
        """Note what did not work, each as a failed check."""
        self.checks += [Check(name, CheckLevel.FAIL, str(problem)) for problem in problems]


def check_embeddings() -> Check:
    """Whether texts are compared by meaning or by letters, and whether the weights are whole."""
    try:
        embedder = open_embedder()
    except ConfigError as problem:
        return Check("embeddings", CheckLevel.FAIL, str(problem))
    return Check(
        "embeddings",
        CheckLevel.OK,
        _kind(embedder),
        None if embedder.meaning else "to compare by meaning: thresher doctor --fix",
    )


def _kind(embedder: Embedder) -> str:
    if embedder.meaning:
        return f"{embedder.sentence}; version {embedder.version}"
    return f"no model ({missing_sentence()}); it is optional. Without it, {embedder.sentence}"


def check_file(path: Path) -> list[Check]:
    """The file that holds the database: the room on its disk, and who else can read it."""
    return [_disk(path), *([_permissions(path)] if os.name == "posix" and path.exists() else [])]


def _permissions(path: Path) -> Check:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & stat.S_IRWXO:
        return Check(
            "files",
            CheckLevel.WARN,
            f"every user of this machine can open {path} (mode {mode:o})",
            f"chmod 600 {path}",
        )
    return Check(
        "files",
        CheckLevel.OK,
        f"mode {mode:o}: readable by its {'owner and group' if mode & stat.S_IRWXG else 'owner only'}",
    )


def _disk(path: Path) -> Check:
    free = shutil.disk_usage(path if path.exists() else path.resolve().parent).free
    verdict = CheckLevel.FAIL if free < DISK_GONE else CheckLevel.WARN if free < DISK_LOW else CheckLevel.OK
    return Check(
        "disk",
        verdict,
        f"{free / (1 << 30):,.1f} GB free",
        None if verdict is CheckLevel.OK else "free some space",
    )


def check_store(store: Store, registry: Registry | None) -> list[Check]:
    """Everything a reachable database can be asked."""
    schema = _schema(store)
    if schema.verdict is CheckLevel.FAIL:
        return [schema]
    checks = [schema, _write(store), _clock(store), _workers(store), _counters(store), _closed(store)]
    checks.append(_spawns(store))
    checks.append(_lineages(store))
    if registry is not None:
        checks += [_kinds(store, registry), _schedules(store, registry), *_kept(store, registry)]
        checks += [*_tables(store, registry), *app_checks(store, registry.apps)]
    return checks + (_postgres(store) if store.backend.dialect.name == "postgres" else [])


def quick_checks(store: Store, registry: Registry, models: Models, outward: Outward) -> list[Check]:
    """The lines of the doctor that a server can answer at once: nothing is written, started or sent. What
    waits is counted up to a bound.
    """
    found = [_python(), _sqlite(), check_name(outward), *check_models(models)]
    schema = _schema(store)
    found.append(schema)
    if schema.verdict is CheckLevel.FAIL:
        return found
    found += [_clock(store), _workers(store), _counters(store), _closed(store), _spawns(store)]
    found += [_lineages(store), _kinds(store, registry), _schedules(store, registry), *_kept(store, registry)]
    found += [*_tables(store, registry), *app_checks(store, registry.apps), *check_waivers(store)]
    return found + (_postgres(store) if store.backend.dialect.name == "postgres" else [])


def app_checks(store: Store, apps: Iterable[App]) -> list[Check]:
    """What the apps found. A check that raises is a failed one, and the others go on."""
    found: list[Check] = []
    for app in apps:
        try:
            for make in app.checks:
                found += make(store)
        except Exception as problem:  # noqa: BLE001  whatever an app's code does, the doctor has to tell
            said = (
                str(problem) if isinstance(problem, ThresherError) else f"{type(problem).__name__}: {problem}"
            )
            found.append(Check.fail(app.name, f"a check of the app {app.name!r} failed: {said}"))
    return found


def needs_person(store: Store, apps: Iterable[App]) -> list[Check]:
    """Return the findings of apps that need attention."""
    return [each for each in app_checks(store, apps) if each.verdict is not CheckLevel.OK]


def worst(checks: Iterable[Check]) -> CheckLevel:
    """The verdict on all of them."""
    verdicts = {check.verdict for check in checks}
    return next((each for each in (CheckLevel.FAIL, CheckLevel.WARN) if each in verdicts), CheckLevel.OK)


def _python() -> Check:
    ok = sys.version_info >= PYTHON
    advice = None if ok else f"install Python {'.'.join(map(str, PYTHON))} or newer"
    return Check("python", CheckLevel.OK if ok else CheckLevel.FAIL, platform.python_version(), advice)


def check_system(system: str) -> Check:
    """What this operating system (as `sys.platform` names it) cannot hold to its limits."""
    if system == "win32":
        return Check(
            "system",
            CheckLevel.WARN,
            "Windows: processes that read pages have a limit of time and none of memory, no parent restarts a "
            "worker that hangs, and PostgreSQL is not supported",
            "for all of it run Thresher in WSL or in a container: docs/reference/systems.md",
        )
    if system == "linux":
        return Check(
            "system", CheckLevel.OK, "Linux: processes that read pages have limits of time and memory"
        )
    return Check(
        "system", CheckLevel.OK, f"{system}: processes that read pages have a limit of time, none of memory"
    )


def _sqlite() -> Check:
    ok = VERSION >= SAFE_VERSION
    advice = (
        None
        if ok
        else "it can corrupt a database after a crash (fixed in 3.51.3): pip install --upgrade apsw"
    )
    return Check("sqlite", CheckLevel.OK if ok else CheckLevel.WARN, ".".join(map(str, VERSION)), advice)


def _browser() -> Check:
    if not chromium.extra_is_installed():
        return Check(
            "browser",
            CheckLevel.OK,
            "none; it is only needed to render pages",
            f"to render pages: {chromium.EXTRA}",
        )
    try:
        found = chromium.find()
        if found is None:
            return Check(
                "browser",
                CheckLevel.WARN,
                "no Chromium was found, so no page can be rendered",
                chromium.ADVICE,
            )
        name = f"{chromium.version(found)}, {found.path} ({found.origin})"
        if chromium.sandboxed():
            return Check("browser", CheckLevel.OK, name)
        return Check(
            "browser",
            CheckLevel.WARN,
            f"{name}, without its sandbox ({chromium.SANDBOX_VARIABLE}=off)",
            "a page that escapes from the browser has this user's rights; run Thresher as a "
            "separate user and unset the variable",
        )
    except ConfigError as problem:
        return Check("browser", CheckLevel.WARN, str(problem))


def _schema(store: Store) -> Check:
    with store.read() as session:
        have = version_now(session, store.backend.dialect)
    know = newest(store.backend.dialect.words)
    if have == know:
        return Check("schema", CheckLevel.OK, f"version {have}")
    found = f"the database is at version {have}, and this Thresher knows {know}"
    return Check(
        "schema",
        CheckLevel.FAIL,
        found,
        "run: thresher migrate" if have < know else "pip install --upgrade thresher",
    )


def _write(store: Store) -> Check:
    try:
        repair.try_to_write(store)
    except DatabaseProblem as problem:
        return Check("write", CheckLevel.FAIL, str(problem))
    return Check("write", CheckLevel.OK, "the database accepts changes")


def _clock(store: Store) -> Check:
    if store.backend.dialect.name == "sqlite":
        return Check("clock", CheckLevel.OK, "the database uses this machine's clock")
    with store.read() as session:
        skew = abs(store.backend.now(session) - SystemClock().now()) / SECOND
    ok = skew < SKEW_SECONDS
    advice = None if ok else "the database's clock is used; synchronise both clocks with NTP"
    return Check(
        "clock",
        CheckLevel.OK if ok else CheckLevel.WARN,
        f"{skew:.3f} s between this machine and the database",
        advice,
    )


def _workers(store: Store) -> Check:
    """Check that somebody works: who, when they were last heard of, and what waits."""
    with store.read() as session:
        now = store.backend.now(session)
        found, unserved = list_workers(session, now), unserved_sentences(session, now)
        depths, last = overview.depths(session, now), overview.last_seen(session)
    lost = [worker for worker in found if not worker.alive]
    seen = "none has ever run" if last is None else f"{last[0]} was seen {_ago(last[1], now)} ago"
    waits = _waiting(depths)
    if unserved:
        advice = "start one of the newest version, without --only or --not"
        return Check.warn("workers", f"{'; '.join(unserved)} ({seen})", advice)
    if not found:
        told, advice = f"none is running ({seen}), and {waits}", "start one: thresher worker"
        return (Check.warn if depths["due"] else Check.ok)("workers", told, advice)
    if not lost:
        return Check.ok("workers", f"{len(found)} running, none lost ({seen}); {waits}")
    held = sum(worker.holds for worker in lost)
    names = ", ".join(worker.name for worker in lost[:SHOWN])
    return Check.warn(
        "workers",
        f"{len(found) - len(lost)} running, {len(lost)} lost with {held} tasks: {names} ({seen}); {waits}",
        "any running worker puts their tasks back: thresher run, or thresher worker",
    )


def _ago(at: int, now: int) -> str:
    return span(max(0, now - at) / SECOND)


def _waiting(depths: dict[str, int]) -> str:
    """What waits for a worker, and what for its time."""
    due, later = depths["due"], depths["delayed"]
    told = f"{at_most(due)} {'task is' if due == 1 else 'tasks are'} due" if due else "no task is due"
    return f"{told}, {at_most(later)} later" if later else told


def _counters(store: Store) -> Check:
    wrong = _wrong(store)
    if wrong:
        time.sleep(
            LOOK_AGAIN_SECONDS
        )  # a look between two statements of a busy queue proves nothing; the same twice does
        wrong = {name: found for name, found in _wrong(store).items() if wrong.get(name) == found}
    if not wrong:
        return Check("gates", CheckLevel.OK, "counters and lanes agree with the running tasks")
    says = "; ".join(f"{name}: {found}" for name, found in sorted(wrong.items())[:5])
    return Check(
        "gates",
        CheckLevel.WARN,
        says,
        "running workers repair this within repair.every; please report it as a bug",
    )


def _wrong(store: Store) -> dict[str, str]:
    found = {
        name: f"counts {counted}, but {running} are running"
        for name, (counted, running) in repair.drifted(store).items()
    }
    with store.read() as session:
        asleep = repair.lanes_asleep(session)
    return found | ({"lanes": f"{asleep} asleep although they have work"} if asleep else {})


def _closed(store: Store) -> Check:
    with store.read() as session:
        shut = [gate for gate in closed_gates(session, store.backend.now(session), bounded=True) if gate.shut]
    if not shut:
        return Check("sources", CheckLevel.OK, "none is paused, tripped or disabled")
    says = "; ".join(closed_sentence(gate) for gate in shut[:5])
    return Check(
        "sources",
        CheckLevel.WARN,
        says,
        "thresher sources list shows them, thresher sources test NAME tries one",
        page="/sources?all=1",
    )


def _spawns(store: Store) -> Check:
    """Spawns that the loop guard refused. Duplicates are its daily work; a loop or a depth is a mistake."""
    with store.read() as session:
        refused = overview.refused_since(session, store.backend.now(session) - DAY)
    if not refused:
        return Check("spawns", CheckLevel.OK, "none was refused in the last 24 hours")
    wrong = refused.keys() & {RefusalRule.TOO_DEEP, RefusalRule.IN_ANCESTRY, RefusalRule.INVALID}
    return Check(
        "spawns",
        CheckLevel.WARN if wrong else CheckLevel.OK,
        f"refused: {refused_sentence(refused)}",
        "thresher events --kind spawn_refused shows them",
    )


def _lineages(store: Store) -> Check:
    """Lineages that have grown deep: the loop guard will stop them, and this is the word before."""
    with store.read() as session:
        deep = overview.deep_since(session, store.backend.now(session) - DAY)
    if not deep:
        return Check("lineages", CheckLevel.OK, "none has grown deep in the last 24 hours")
    advice = (
        "thresher events --kind lineage_deep names their roots, thresher tasks tree ROOT draws one; what belongs "
        "deeper than lineage.max_depth needs a higher limit"
    )
    return Check("lineages", CheckLevel.WARN, deep_sentence(deep), advice)


def _kinds(store: Store, registry: Registry) -> Check:
    with store.read() as session:
        # Counting what waits takes long; that a kind is known is said without it.
        unknown = {kind for kind in lanes.known_kinds(session) if registry.pipeline(kind) is None}
        if not unknown:
            return Check("kinds", CheckLevel.OK, "every waiting task belongs to an app")
        strange, seen = lanes.live_kinds(session, unknown, MAX_COUNTED), overview.apps_seen(session)
        owners = kinds_by_app(session)
    if not strange:
        return Check("kinds", CheckLevel.OK, "every waiting task belongs to an app")
    says = ", ".join(
        f"{at_most(number)} of kind {kind!r}" + (f" (app {owners[kind]})" if kind in owners else "")
        for kind, number in strange.items()
    )
    # Kinds from before owners were written down: one of these may be the owner.
    absent = sorted(seen - {app.name for app in registry.apps}) if strange.keys() - owners.keys() else []
    whose = f"; apps that worked here and are missing now: {', '.join(absent)}" if absent else ""
    return Check(
        "kinds",
        CheckLevel.WARN,
        f"no app of this project knows: {says}{whose}",
        "install the app, and add it to thresher.yaml or use --app; the tasks wait until then",
    )


def _tables(store: Store, registry: Registry) -> list[Check]:
    """The tables of apps: up to date for those that are enabled here, and left alone for all others."""
    with store.read() as session:
        have = versions(session)
    try:
        known = {each.app: each.newest for each in app_schemas(registry.apps, store.backend.dialect)}
    except ConfigError as problem:
        return [Check("tables", CheckLevel.FAIL, str(problem))]
    if not have and not known:
        return []
    wrong = {app: newest for app, newest in known.items() if have.get(app, 0) != newest}
    if wrong:
        says = ", ".join(
            f"the tables of app {app} are at migration {have.get(app, 0)}, and the installed app "
            f"knows {newest}"
            for app, newest in wrong.items()
        )
        is_behind = all(have.get(app, 0) < newest for app, newest in wrong.items())
        return [
            Check(
                "tables", CheckLevel.FAIL, says, "run: thresher migrate" if is_behind else "upgrade the app"
            )
        ]
    says = ", ".join(
        f"{app} at migration {number}"
        + ("" if app in known else " (not enabled in this project; they stay as they are)")
        for app, number in sorted(have.items())
    )
    return [Check("tables", CheckLevel.OK, says)]


def _schedules(store: Store, registry: Registry) -> Check:
    known = {app.name for app in registry.apps}
    with store.read() as session:
        stopped = [plan for plan in read_plans(session) if plan.app not in known]
    if not stopped:
        return Check("schedules", CheckLevel.OK, "every schedule belongs to an app")
    says = ", ".join(f"{plan.name} (app {plan.app})" for plan in stopped)
    advice = "add the app to thresher.yaml or use --app; only workers that run it fire them"
    return Check("schedules", CheckLevel.WARN, f"no app of this project has: {says}", advice)


def _kept(store: Store, registry: Registry) -> list[Check]:
    with store.read() as session:
        kept = kept_settings(session, registry.settings.catalogue)
    if not kept:
        return []
    says = ", ".join(f"{each.name} = {each.value} (app {each.app})" for each in kept)
    advice = "they are kept, and take effect again when their app is enabled in thresher.yaml or with --app"
    return [Check("kept", CheckLevel.WARN, f"no app of this project has: {says}", advice)]


def _postgres(store: Store) -> list[Check]:
    try:
        with store.read() as session:
            version, idle, oldest = (
                repair.postgres_version(session),
                repair.idle_in_transaction(session),
                repair.oldest_snapshot(session),
            )
    except DatabaseProblem as problem:
        return [Check("postgres", CheckLevel.WARN, str(problem))]
    return [_version(version), _horizon(*idle, oldest)]


def _version(number: int) -> Check:
    ok = number >= POSTGRES
    found = f"PostgreSQL {number // 10_000}.{number % 10_000}"
    return Check(
        "postgres",
        CheckLevel.OK if ok else CheckLevel.FAIL,
        found,
        None if ok else "upgrade to PostgreSQL 15 or newer",
    )


def _horizon(idle: int, idle_seconds: float, oldest: dict[str, object] | None) -> Check:
    seconds = float(str(oldest["seconds"])) if oldest else 0.0
    found = f"oldest snapshot {seconds:.0f} s, {idle} sessions idle in a transaction"
    if max(seconds, idle_seconds) < SNAPSHOT_SECONDS:
        return Check("horizon", CheckLevel.OK, found)
    who = (
        f"process {oldest['pid']} ({oldest['application'] or 'no name'}, {oldest['state']})"
        if oldest
        else "an idle session"
    )
    advice = (
        f"{who} prevents dead rows from being removed and slows down every claim; end it, or set "
        "idle_in_transaction_session_timeout"
    )
    return Check("horizon", CheckLevel.WARN, found, advice)


# Models: which can be called, at what price, and what is missing.

MILLION = 1_000_000


def check_models(models: Models) -> list[Check]:
    """For the doctor. Nothing is sent: whether a key is right, the first call will tell."""
    if not models:
        return [
            Check(
                "models",
                CheckLevel.OK,
                "none: pages are read with rules, their own data and learned extractors",
            )
        ]
    return [_check(models, tier, names) for tier, names in _served(models).items()]


def _served(models: Models) -> dict[Tier, list[str]]:
    found: dict[Tier, list[str]] = {}
    for name, tier in models.tiers.items():
        found.setdefault(tier, []).append(name)
    return found


def _check(models: Models, tier: Tier, names: list[str]) -> Check:
    who = f"{' and '.join(names)}: {tier}"
    thinker = models.providers[tier.provider]
    try:
        open_provider(thinker)
        prices = Prices(models)
        price = (
            prices.most(tier.provider, tier.model, MILLION, 0),
            prices.most(tier.provider, tier.model, 0, MILLION),
        )
    except ConfigError as problem:
        return Check("models", CheckLevel.FAIL, f"{who}: {problem}")
    if thinker.keyless:
        advice = (
            f"set the variable {thinker.key_name}"
            if thinker.key_name
            else f"give models.providers.{tier.provider} a key"
        )
        return Check("models", CheckLevel.WARN, f"{who} has no key, so tasks that need it wait", advice)
    says = (
        f"{who}, at most ${price[0] / DOLLAR:.2f} per million bytes sent and ${price[1] / DOLLAR:.2f} "
        "per million tokens received"
    )
    return Check("models", CheckLevel.OK, says)


# Notification targets: whether a message could be sent. None is sent.


def check_notify(wanted: Notify) -> list[Check]:
    """Check the notification targets; nothing if there are none."""
    if not wanted:
        return []
    try:
        names = Notifier(wanted.urls, wanted.unset).check()
    except ConfigError as problem:
        return [Check("notify", CheckLevel.FAIL, str(problem), "until it is mended, messages wait")]
    return [Check("notify", CheckLevel.OK, f"{', '.join(names)}; to try them: thresher notify")]


# Outgoing requests: the user agent, and where robots.txt is waived.

SHOWN = 5
PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


def reach(outward: Outward) -> str:
    """Where requests may go, and where names lead that the project itself has mapped."""
    mapped = [f"{host} is answered by {address}" for host, address in sorted(outward.resolve.items())]
    proxy = [] if outward.proxy is None else [f"all else through the proxy {read_proxy(outward.proxy)}"]
    http2 = ["over HTTP/2"] if outward.http2 else []
    return "; ".join([*Guard(outward.allow).describe(), *mapped, *proxy, *http2])


def check_proxy_variables(outward: Outward) -> list[Check]:
    """Warn about a proxy that this machine names for all programs, and that pages are not fetched through."""
    names = [name for name in PROXY_VARIABLES if os.environ.get(name) or os.environ.get(name.lower())]
    if not names or outward.proxy is not None:
        return []
    return [
        Check(
            "proxy",
            CheckLevel.WARN,
            f"{' and '.join(names)} is set, but pages are fetched directly",
            f'to fetch them through it: add fetch: {{proxy: "${{{names[0]}}}"}} to thresher.yaml',
        )
    ]


def check_name(outward: Outward) -> Check:
    """Under which name we ask, and whether anybody can be reached behind it."""
    header = agent_of(outward.user_agent, outward.contact).header
    reachable = outward.contact or "@" in header or "://" in header
    advice = (
        None
        if reachable
        else "site owners should be able to reach you: add fetch: {contact: bot@example.com} to thresher.yaml"
    )
    return Check("user agent", CheckLevel.OK if reachable else CheckLevel.WARN, header, advice)


def check_waivers(store: Store) -> list[Check]:
    """List where robots.txt is ignored."""
    try:
        with store.read() as session:
            waived = find_waived(session)
    except DatabaseProblem:
        return []  # an older schema: the check of the schema has said so
    if not waived:
        return [Check("robots.txt", CheckLevel.OK, "obeyed everywhere")]
    says = "; ".join(
        f"{name} since {(as_text(at) or '')[:10]}: {reason}" for name, at, reason in waived[:SHOWN]
    )
    more = f"; and {len(waived) - SHOWN} more" if len(waived) > SHOWN else ""
    return [
        Check(
            "robots.txt",
            CheckLevel.WARN,
            f"ignored at {says}{more}",
            "to obey it again: thresher sources robots NAME on",
        )
    ]
