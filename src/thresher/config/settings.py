"""The settings: every number that a person may change, with its default, unit, limits and one sentence.

The machine's own stand here; an app brings its own (`App.settings`), each named after the app. A `Catalogue`
is all of them for one process. Changes at run time are rows in the database, with their history. The
reference page of the documentation is printed from these tables.

A `guarded` setting needs an administrator, a `tunable` one a key with the scope write. In doubt a setting is
guarded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from thresher.core.app import App
from thresher.core.backoff import Backoff
from thresher.core.clock import to_us
from thresher.core.errors import ConfigError, UnknownName
from thresher.core.page import MAX_NODES
from thresher.core.setting import Number, Setting, guarded, tunable

DAY = 86_400.0

SETTINGS: tuple[Setting, ...] = (
    tunable(
        "queue.head_start",
        60.0,
        "seconds",
        0,
        DAY,
        "Head start for each step of priority: a task counts as having waited this much longer.",
    ),
    tunable(
        "queue.quantum",
        4,
        "tasks",
        1,
        1_000,
        "Tasks that a lane may start before the next lane gets its turn.",
    ),
    guarded(
        "queue.payload_limit",
        65_536,
        "bytes",
        256,
        16_777_216,
        "Maximum size of a payload or checkpoint; larger bodies go to the blobs.",
    ),
    guarded(
        "queue.result_limit",
        65_536,
        "bytes",
        256,
        16_777_216,
        "Maximum size of a task's result.",
    ),
    guarded("lineage.max_depth", 10, "generations", 0, 1_000, "Maximum depth of a task below its root."),
    guarded(
        "lineage.alert_depth",
        5,
        "generations",
        0,
        1_000,
        "Report a lineage with a task deeper than this below its root, before lineage.max_depth stops it.",
    ),
    tunable(
        "retry.base",
        60.0,
        "seconds",
        0,
        DAY,
        "Wait after the first failure; it doubles with each further failure.",
    ),
    tunable("retry.cap", DAY, "seconds", 0, 30 * DAY, "Longest wait between two tries."),
    tunable(
        "retry.jitter",
        0.2,
        "share",
        0,
        1,
        "Random share of each wait, so that tasks that failed together do not return together.",
    ),
    tunable(
        "retry.max_retries",
        3,
        "tries",
        0,
        1_000,
        "Retries before a failed task is final.",
    ),
    tunable(
        "retry.max_crashes",
        3,
        "crashes",
        1,
        1_000,
        "Crashes of its worker before a task is quarantined.",
    ),
    tunable(
        "retry.crash_spread",
        20.0,
        "seconds",
        0,
        DAY,
        "Spread the retries of tasks that crashed their worker twice over this time; it grows with each crash.",
    ),
    guarded("breaker.trip_after", 5, "failures", 1, 10_000, "Consecutive failures that close a new host."),
    guarded(
        "breaker.cooldown",
        300.0,
        "seconds",
        0,
        DAY,
        "Time that a tripped gate stays closed before it lets one trial through.",
    ),
    guarded("host.in_flight", 1, "requests", 1, 10_000, "Maximum number of concurrent tasks at a new host."),
    guarded("host.interval", 1.0, "seconds", 0, DAY, "Minimum time between two requests to a new host."),
    guarded("fetch.connect", 10.0, "seconds", 0.01, 600, "Timeout for resolving a name and connecting."),
    guarded(
        "fetch.read",
        20.0,
        "seconds",
        0.01,
        3_600,
        "Timeout for silence in the middle of a response.",
    ),
    guarded(
        "fetch.total",
        60.0,
        "seconds",
        0.01,
        3_600,
        "Timeout for a whole request, without our own waiting.",
    ),
    guarded(
        "fetch.size_limit",
        10_485_760,
        "bytes",
        1_024,
        67_108_864,
        "Maximum size of a page after decompression; reading stops there.",
    ),
    guarded("fetch.redirects", 10, "redirects", 0, 50, "Maximum number of redirects to follow for one page."),
    guarded(
        "fetch.patience",
        5.0,
        "seconds",
        0,
        600,
        "Longest wait of a request at its gate; its task is put back if it would take longer.",
    ),
    guarded(
        "fetch.robots_age",
        DAY,
        "seconds",
        60,
        DAY,
        "Time before robots.txt is fetched again; a site may ask for less.",
    ),
    guarded(
        "fetch.crawl_delay_cap",
        60.0,
        "seconds",
        0,
        3_600,
        "Longest Crawl-delay to honour; a longer one counts as this.",
    ),
    guarded(
        "fetch.keep_pages",
        7.0,
        "days",
        0,
        36_500,
        "Time to keep fetched pages for reuse and replay; 0 keeps none.",
    ),
    guarded(
        "fetch.keep_all",
        1,
        "0 or 1",
        0,
        1,
        "1 also keeps pages that HTTP caching rules would not allow, for replay.",
    ),
    guarded("fetch.replay", 0, "0 or 1", 0, 1, "1 reads kept pages only, however old, and sends no request."),
    guarded(
        "browser.in_flight",
        2,
        "pages",
        1,
        100,
        "Maximum number of pages that one worker renders at the same time.",
    ),
    guarded("budget.call", 0.3, "dollars", 0, 1_000, "Maximum cost of one model call."),
    guarded(
        "budget.run",
        2.0,
        "dollars",
        0,
        1_000_000,
        "Maximum cost of model calls of a task and everything it spawns.",
    ),
    guarded(
        "budget.app", 5.0, "dollars", 0, 1_000_000, "Maximum cost of model calls of one app in a day (UTC)."
    ),
    guarded(
        "budget.day",
        10.0,
        "dollars",
        0,
        1_000_000,
        "Maximum cost of model calls of all apps in a day (UTC).",
    ),
    guarded("ai.timeout", 60.0, "seconds", 0.01, 3_600, "Timeout for one answer of a model."),
    guarded(
        "ai.output_limit",
        4_000,
        "tokens",
        16,
        1_000_000,
        "Maximum length of an answer; it is reserved and paid for in advance.",
    ),
    guarded(
        "ai.part_size",
        24_000,
        "characters",
        500,
        1_000_000,
        "Longest part of a page to put into one question.",
    ),
    guarded(
        "ai.repairs",
        2,
        "tries",
        0,
        10,
        "Times to tell a model what is wrong with its answer before giving up on it.",
    ),
    guarded(
        "reading.max_nodes",
        MAX_NODES,
        "nodes",
        1_000,
        10_000_000,
        "Maximum number of nodes in a page's tree; a larger page is refused.",
    ),
    guarded(
        "isolation.processes",
        0,
        "processes",
        0,
        256,
        "Processes of one worker that read pages; 0 starts one per processor.",
    ),
    guarded(
        "isolation.seconds",
        10.0,
        "seconds",
        0.05,
        3_600,
        "Kill the process that reads a page after this time.",
    ),
    guarded(
        "isolation.memory",
        1_024,
        "megabytes",
        64,
        65_536,
        "Memory limit of a process that reads pages.",
    ),
    guarded(
        "worker.concurrency",
        100,
        "tasks",
        1,
        10_000,
        "Maximum number of concurrent tasks of one worker.",
    ),
    guarded("worker.batch", 100, "tasks", 1, 1_000, "Maximum number of tasks to claim in one transaction."),
    guarded("worker.lease", 15.0, "seconds", 0.2, 3_600, "Time after which a silent worker loses its tasks."),
    guarded(
        "worker.heartbeat",
        0.0,
        "seconds",
        0,
        1_800,
        "Time between two renewals of the lease, at most half of it; 0 means a third.",
    ),
    guarded(
        "worker.grace",
        30.0,
        "seconds",
        0,
        3_600,
        "Time for tasks to finish when a worker stops; then they are handed back.",
    ),
    guarded(
        "worker.poll",
        1.0,
        "seconds",
        0.01,
        3_600,
        "Time between two looks for work that no wake-up announced.",
    ),
    guarded(
        "worker.timeout",
        300.0,
        "seconds",
        0.01,
        DAY,
        "Timeout for one stage, unless the stage sets its own.",
    ),
    guarded(
        "worker.cancel_grace",
        5.0,
        "seconds",
        0,
        3_600,
        "Time for a cancelled stage to end; then its task is settled without it.",
    ),
    guarded(
        "worker.suspect_alone",
        5.0,
        "seconds",
        0,
        DAY,
        "Time that a task that lost its worker runs alone before the next such task may start beside it.",
    ),
    guarded(
        "worker.stall",
        300.0,
        "seconds",
        1,
        DAY,
        "Kill a worker whose event loop stands still for this long.",
    ),
    tunable(
        "run.patience",
        10.0,
        "seconds",
        0,
        DAY,
        "Longest wait of `thresher run` for work that is due later.",
    ),
    guarded(
        "reaper.every", 1.0, "seconds", 0.01, 3_600, "Time between two searches for tasks of lost workers."
    ),
    guarded(
        "reaper.batch",
        500,
        "tasks",
        1,
        10_000,
        "Maximum number of tasks of lost workers to put back in one transaction.",
    ),
    guarded(
        "repair.every",
        60.0,
        "seconds",
        1,
        DAY,
        "Time between two comparisons of the counters of busy gates with the running tasks.",
    ),
    guarded(
        "repair.full_every",
        600.0,
        "seconds",
        1,
        30 * DAY,
        "Time between two checks of all gates, lanes and groups, idle ones included.",
    ),
    guarded("prune.every", 600.0, "seconds", 1, DAY, "Time between two removals of old history."),
    guarded(
        "prune.batch", 1_000, "tasks", 1, 10_000, "Maximum number of old tasks to remove in one transaction."
    ),
    guarded(
        "history.retention",
        30.0,
        "days",
        0,
        36_500,
        "Time to keep a lineage after its last task has ended.",
    ),
    guarded("history.events", 90.0, "days", 0, 36_500, "Time to keep events."),
    guarded("history.audit", 400.0, "days", 1, 36_500, "Time to keep who changed what."),
    guarded(
        "history.attempts", 30.0, "days", 1, 36_500, "Time to keep attempts of tasks that have not ended."
    ),
    guarded(
        "history.answers",
        400.0,
        "days",
        1,
        36_500,
        "Time to keep a model's answer after its last use.",
    ),
    guarded(
        "history.workers",
        30.0,
        "days",
        1,
        36_500,
        "Time to keep workers in the list after they have stopped.",
    ),
    guarded(
        "history.bodies",
        7.0,
        "days",
        1,
        36_500,
        "Time to keep a saved body after nothing refers to it any more.",
    ),
    guarded(
        "history.vectors",
        90.0,
        "days",
        2,
        36_500,
        "Time to keep the vector of a text after its last use.",
    ),
    guarded(
        "history.hosts",
        30.0,
        "days",
        2,
        36_500,
        "Time to keep an idle host after its last task was removed.",
    ),
    guarded("history.ledger", 400.0, "days", 31, 36_500, "Time to keep the cost of each model call."),
    guarded(
        "history.idempotency_keys",
        1.0,
        "days",
        0.05,
        365,
        "Time to keep an Idempotency-Key with the answer to its request.",
    ),
    guarded("schedule.every", 1.0, "seconds", 0.01, 3_600, "Time between two looks at the schedules."),
    guarded(
        "schedule.max_missed", 100, "firings", 1, 100_000, "Maximum number of missed firings to make up for."
    ),
    guarded(
        "settings.every",
        5.0,
        "seconds",
        0.01,
        3_600,
        "Time between two reads of changed settings by a worker.",
    ),
    guarded("webhook.every", 5.0, "seconds", 0.01, 3_600, "Time between two looks for events to deliver."),
    tunable("webhook.timeout", 20.0, "seconds", 0.1, 300, "Timeout for an endpoint of a webhook to answer."),
    guarded(
        "web.rate",
        60,
        "requests a minute",
        1,
        1_000_000,
        "Request limit of a new API key.",
    ),
    guarded(
        "web.body_limit",
        1_048_576,
        "bytes",
        1_024,
        67_108_864,
        "Maximum size of a request body; reading stops there.",
    ),
    guarded(
        "web.body_patience",
        30.0,
        "seconds",
        0.1,
        3_600,
        "Timeout for a request body to arrive, or for a response to be taken.",
    ),
    guarded(
        "web.connections",
        1_000,
        "connections",
        1,
        100_000,
        "Maximum number of open connections; further ones are answered 503.",
    ),
    guarded(
        "web.address_connections",
        100,
        "connections",
        1,
        100_000,
        "Maximum number of open connections of one address; trusted proxies have no limit.",
    ),
    guarded(
        "web.grace",
        10,
        "seconds",
        0,
        3_600,
        "Time for responses to finish when the server stops.",
    ),
    guarded(
        "web.live_interval",
        1.0,
        "seconds",
        0.1,
        3_600,
        "Shortest time between two updates of an open page of the dashboard.",
    ),
    guarded(
        "web.live_pages",
        50,
        "pages",
        0,
        100_000,
        "Maximum number of open pages that a server keeps up to date; others stay as they were loaded.",
    ),
    guarded(
        "web.idempotency_keys",
        10_000,
        "keys",
        1,
        1_000_000,
        "Maximum number of keys in Idempotency-Key headers that are kept for one caller.",
    ),
    guarded(
        "web.open_metrics",
        0,
        "0 or 1",
        0,
        1,
        "1 shows the metrics without a key to programs on the same machine.",
    ),
    guarded("web.login_hours", 12.0, "hours", 0.01, 720, "Time before an administrator has to log in again."),
    guarded(
        "web.login_rate",
        5,
        "tries a minute",
        1,
        1_000,
        "Login attempts from one address for one name.",
    ),
    guarded(
        "web.login_address_rate",
        20,
        "tries a minute",
        1,
        10_000,
        "Login attempts from one address for all names.",
    ),
    guarded(
        "web.proxy_people",
        0,
        "0, 1 or 2",
        0,
        2,
        "People whom a trusted proxy names and who are not here yet: 0 refuses them, 1 makes them viewers, 2 operators.",
    ),
    guarded(
        "web.password_cost",
        15,
        "power of two",
        10,
        20,
        "scrypt cost (log2 of N) for new passwords.",
    ),
)

SECTIONS = frozenset(each.name.partition(".")[0] for each in SETTINGS)


class Catalogue(Mapping[str, Setting]):
    """The settings that exist in one process: the machine's, and those of its apps by the app's name."""

    def __init__(
        self, of_apps: Mapping[str, Sequence[Setting]] | Iterable[tuple[str, Sequence[Setting]]] = ()
    ) -> None:
        self._by_name = {each.name: each for each in SETTINGS}
        self._owners: dict[str, str] = {}
        for app, settings in of_apps.items() if isinstance(of_apps, Mapping) else of_apps:
            for each in settings:
                self._add(app, each)
        self.defaults: Mapping[str, Number] = {name: each.default for name, each in self._by_name.items()}
        self.apps = tuple(sorted(set(self._owners.values())))

    def _add(self, app: str, new: Setting) -> None:
        section, owner = new.name.partition(".")[0], self._owners.get(new.name)
        if not new.name.removeprefix(f"{app}.") or not new.name.startswith(f"{app}."):
            raise ConfigError(
                f"app {app!r} has a setting {new.name!r}; the settings of an app must start with its "
                f"name: {app}.NAME"
            )
        if section in SECTIONS:
            raise ConfigError(
                f"app {app!r} has the setting {new.name!r}, but {section}.* are settings of Thresher "
                "itself; rename the app"
            )
        if owner is not None:
            raise ConfigError(
                f"the setting {new.name!r} is defined by app {owner!r} and by app {app!r}; rename one of them"
            )
        self._by_name[new.name], self._owners[new.name] = new, app

    def __getitem__(self, name: str) -> Setting:
        found = self._by_name.get(name)
        if found is None:
            raise self.unknown(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._by_name  # a mapping asks by KeyError; ours answers with advice instead

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def app_of(self, name: str) -> str | None:
        """The app that brings a setting; None for one of the machine's."""
        return self._owners.get(name)

    def unknown(self, name: str) -> UnknownName:
        """Make the error for a name that does not exist: with the nearest names, or the apps that are
        enabled.
        """
        section = name.partition(".")[0]
        near = [known for known in self._by_name if known.startswith(section + ".")]
        if near:
            return UnknownName(f"there is no setting {name!r}; did you mean one of: {', '.join(near)}?")
        sections = sorted({known.partition(".")[0] for known in self._by_name})
        apps = (
            f"the apps with settings here are: {', '.join(self.apps)}"
            if self.apps
            else "no app here has settings"
        )
        return UnknownName(
            f"there is no setting {name!r}. If it belongs to an app {section!r}, enable that app (apps: in thresher.yaml, "
            f"or --app); {apps}. Otherwise, did you mean one of: {', '.join(f'{each}.*' for each in sections)}?"
        )


MACHINE = Catalogue()


def catalogue_of(apps: Iterable[App]) -> Catalogue:
    """The settings of the machine and of these apps. A name that two of them bring is refused."""
    return Catalogue((app.name, app.settings) for app in apps)


class Settings(Mapping[str, Number]):
    """The values in force: the defaults of a catalogue, and over them whatever was changed.

    The values lie ready in one dictionary: workers look them up in every turn.
    """

    def __init__(
        self,
        changed: Mapping[str, Number] | Iterable[tuple[str, Number]] = (),
        catalogue: Catalogue = MACHINE,
    ) -> None:
        self.catalogue = catalogue
        self._values = dict(catalogue.defaults)
        self._values.update((name, catalogue[name].parse(value)) for name, value in dict(changed).items())

    def __getitem__(self, name: str) -> Number:
        try:
            return self._values[name]
        except KeyError:
            raise self.catalogue.unknown(name) from None

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def count(self, name: str) -> int:
        """A setting that counts something."""
        return int(self[name])

    def us(self, name: str) -> int:
        """A setting in seconds, as microseconds."""
        return to_us(self[name])

    def heartbeat(self) -> float:
        """Seconds between two renewals of a lease. One that a single delay would let the lease run out is
        refused.
        """
        every, lease = float(self["worker.heartbeat"]), float(self["worker.lease"])
        if every > lease / 2:
            raise ConfigError(
                f"worker.heartbeat is {every:g} seconds and worker.lease {lease:g}: a lease must outlast two heartbeats. "
                f"Set worker.heartbeat to at most {lease / 2:g}, or worker.lease to at least {every * 2:g}"
            )
        return every or lease / 3

    def backoff(self) -> Backoff:
        """The retry settings as one value."""
        return Backoff(
            self.us("retry.base"),
            self.us("retry.cap"),
            float(self["retry.jitter"]),
            self.count("retry.max_retries"),
        )
