"""Every setting: its default, its unit, its limits, one sentence, and who may change it. The only place where
such a number is written.

A `guarded` setting needs an administrator, a `tunable` one a key with the scope write. In doubt a setting is
guarded.

Defaults stand here. Changes at run time are rows in the database, with their history. The reference page of
the documentation is printed from this list.
"""

from collections.abc import Iterable, Iterator, Mapping

from thresher.config.jobs import JOBS
from thresher.config.roles import ROLES
from thresher.config.setting import Number, Setting, guarded, tunable
from thresher.core.backoff import Backoff
from thresher.core.clock import to_us
from thresher.core.errors import ConfigError, UnknownName
from thresher.core.page import MAX_NODES

DAY = 86_400.0

SETTINGS: tuple[Setting, ...] = (
    tunable(
        "queue.head_start",
        60.0,
        "seconds",
        0,
        DAY,
        "How much longer a task counts as having waited, per step of its priority.",
    ),
    tunable(
        "queue.quantum",
        4,
        "tasks",
        1,
        1_000,
        "How many tasks a lane may start in one turn before the next lane has its turn.",
    ),
    guarded(
        "queue.payload_limit",
        65_536,
        "bytes",
        256,
        16_777_216,
        "The largest payload or checkpoint; larger bodies go to the blobs.",
    ),
    guarded(
        "queue.result_limit",
        65_536,
        "bytes",
        256,
        16_777_216,
        "Maximum size of the result that a task hands back.",
    ),
    guarded("lineage.max_depth", 10, "generations", 0, 1_000, "How deep a task may spawn below its root."),
    tunable(
        "retry.base",
        60.0,
        "seconds",
        0,
        DAY,
        "The wait after the first failure; it doubles with each further one.",
    ),
    tunable("retry.cap", DAY, "seconds", 0, 30 * DAY, "The longest wait between two tries."),
    tunable(
        "retry.jitter",
        0.2,
        "share",
        0,
        1,
        "How much of a wait is left to chance, so that a herd does not come back at once.",
    ),
    tunable(
        "retry.max_retries",
        3,
        "tries",
        0,
        1_000,
        "How often a failed task is tried again before it is final.",
    ),
    tunable(
        "retry.max_crashes",
        3,
        "crashes",
        1,
        1_000,
        "How often a task may lose its worker before it is quarantined.",
    ),
    tunable(
        "retry.crash_spread",
        20.0,
        "seconds",
        0,
        DAY,
        "Over how long tasks are spread that lost their worker twice, more each time.",
    ),
    guarded("breaker.trip_after", 5, "failures", 1, 10_000, "How many failures in a row close a new host."),
    guarded(
        "breaker.cooldown",
        300.0,
        "seconds",
        0,
        DAY,
        "How long a tripped gate stays closed before one trial may pass.",
    ),
    guarded(
        "host.in_flight", 1, "requests", 1, 10_000, "How many tasks may be at one new host at the same time."
    ),
    guarded("host.interval", 1.0, "seconds", 0, DAY, "The time between two starts at one new host."),
    guarded(
        "fetch.connect", 10.0, "seconds", 0.01, 600, "How long looking a name up and connecting may take."
    ),
    guarded(
        "fetch.read",
        20.0,
        "seconds",
        0.01,
        3_600,
        "How long a server may be silent in the middle of its answer.",
    ),
    guarded(
        "fetch.total",
        60.0,
        "seconds",
        0.01,
        3_600,
        "How long one request may take in all, our own waiting aside.",
    ),
    guarded(
        "fetch.size_limit",
        10_485_760,
        "bytes",
        1_024,
        67_108_864,
        "The largest page, unpacked; reading stops there.",
    ),
    guarded("fetch.redirects", 10, "redirects", 0, 50, "How many redirects are followed for one page."),
    guarded(
        "fetch.patience",
        5.0,
        "seconds",
        0,
        600,
        "How long a request waits at its gate; for longer its task comes back later.",
    ),
    guarded(
        "fetch.robots_age",
        DAY,
        "seconds",
        60,
        DAY,
        "How long a robots.txt counts before it is read again; a site may ask for less.",
    ),
    guarded(
        "fetch.crawl_delay_cap",
        60.0,
        "seconds",
        0,
        3_600,
        "The longest Crawl-delay that is kept; a longer one counts as this.",
    ),
    guarded(
        "fetch.keep_pages",
        7.0,
        "days",
        0,
        36_500,
        "How long fetched pages are kept for reuse and replay; 0 keeps none.",
    ),
    guarded(
        "fetch.keep_all",
        1,
        "0 or 1",
        0,
        1,
        "1 also keeps pages that HTTP would not let us use again: for replay.",
    ),
    guarded(
        "fetch.replay", 0, "0 or 1", 0, 1, "1 reads kept pages only, however old, and touches no network."
    ),
    guarded("browser.in_flight", 2, "pages", 1, 100, "How many pages one worker renders at the same time."),
    guarded("budget.call", 0.3, "dollars", 0, 1_000, "What one call of a model may cost at most."),
    guarded(
        "budget.run",
        2.0,
        "dollars",
        0,
        1_000_000,
        "What a task and everything it spawns may spend on models.",
    ),
    guarded("budget.app", 5.0, "dollars", 0, 1_000_000, "What one app may spend on models in a day (UTC)."),
    guarded(
        "budget.day",
        10.0,
        "dollars",
        0,
        1_000_000,
        "What all apps together may spend on models in a day (UTC).",
    ),
    guarded("ai.timeout", 60.0, "seconds", 0.01, 3_600, "How long a model may take for one answer."),
    guarded(
        "ai.output_limit",
        4_000,
        "tokens",
        16,
        1_000_000,
        "The longest answer of a model; it is paid for in advance.",
    ),
    guarded(
        "ai.part_size",
        24_000,
        "characters",
        500,
        1_000_000,
        "The longest part of a page that is put into one question.",
    ),
    guarded(
        "ai.repairs",
        2,
        "tries",
        0,
        10,
        "How often a model is told what is wrong with its answer before the answer counts as none.",
    ),
    guarded(
        "reading.max_nodes",
        MAX_NODES,
        "nodes",
        1_000,
        10_000_000,
        "The largest tree of a page; a page with more nodes is refused.",
    ),
    guarded(
        "isolation.processes",
        0,
        "processes",
        0,
        256,
        "How many processes of a worker read pages; 0 is one per processor.",
    ),
    guarded(
        "isolation.seconds",
        10.0,
        "seconds",
        0.05,
        3_600,
        "How long reading a page may take before its process is killed.",
    ),
    guarded(
        "isolation.memory",
        1_024,
        "megabytes",
        64,
        65_536,
        "How much memory a process that reads pages may take for its work.",
    ),
    guarded(
        "worker.concurrency",
        100,
        "tasks",
        1,
        10_000,
        "How many tasks one worker has in hand at the same time.",
    ),
    guarded("worker.batch", 100, "tasks", 1, 1_000, "How many tasks a worker claims in one transaction."),
    guarded("worker.lease", 15.0, "seconds", 0.2, 3_600, "How long a silent worker keeps its tasks."),
    guarded(
        "worker.heartbeat",
        0.0,
        "seconds",
        0,
        1_800,
        "Time between two renewals of the lease, at most half of it; 0: a third.",
    ),
    guarded(
        "worker.grace",
        30.0,
        "seconds",
        0,
        3_600,
        "How long a stopping worker lets its tasks finish before it hands them back.",
    ),
    guarded(
        "worker.poll",
        1.0,
        "seconds",
        0.01,
        3_600,
        "How often an idle worker looks for work that no wake-up announced.",
    ),
    guarded(
        "worker.timeout",
        300.0,
        "seconds",
        0.01,
        DAY,
        "How long one stage may take, unless it says otherwise.",
    ),
    guarded(
        "worker.cancel_grace",
        5.0,
        "seconds",
        0,
        3_600,
        "Time for a cancelled stage to end before its task is settled without it.",
    ),
    guarded(
        "worker.suspect_alone",
        5.0,
        "seconds",
        0,
        DAY,
        "Time a task that lost its worker runs alone before the next starts.",
    ),
    guarded(
        "worker.stall",
        300.0,
        "seconds",
        1,
        DAY,
        "How long a worker's event loop may stand still before its process is ended.",
    ),
    tunable(
        "run.patience",
        10.0,
        "seconds",
        0,
        DAY,
        "How long a run waits for work that is due later before it ends and says so.",
    ),
    guarded(
        "reaper.every", 1.0, "seconds", 0.01, 3_600, "How often the tasks of lost workers are looked for."
    ),
    guarded(
        "reaper.batch", 500, "tasks", 1, 10_000, "How many tasks of lost workers go back in one transaction."
    ),
    guarded(
        "repair.every",
        60.0,
        "seconds",
        1,
        DAY,
        "How often the counters of busy gates are compared with what runs.",
    ),
    guarded(
        "repair.full_every",
        600.0,
        "seconds",
        1,
        30 * DAY,
        "How often all gates, lanes and groups are checked, idle ones too.",
    ),
    guarded("prune.every", 600.0, "seconds", 1, DAY, "How often old history is removed."),
    guarded("prune.batch", 1_000, "tasks", 1, 10_000, "How many old tasks are removed in one transaction."),
    guarded(
        "history.retention",
        30.0,
        "days",
        0,
        36_500,
        "How long a lineage is kept after its last task has ended.",
    ),
    guarded("history.events", 90.0, "days", 0, 36_500, "How long events are kept."),
    guarded("history.attempts", 30.0, "days", 1, 36_500, "How long attempts are kept of tasks that live on."),
    guarded(
        "history.answers",
        400.0,
        "days",
        1,
        36_500,
        "How long a model's answer is kept after it was last used.",
    ),
    guarded(
        "history.workers", 30.0, "days", 1, 36_500, "How long workers are listed after they have stopped."
    ),
    guarded(
        "history.bodies",
        7.0,
        "days",
        1,
        36_500,
        "How long a saved body is kept after nothing refers to it any more.",
    ),
    guarded(
        "history.vectors",
        90.0,
        "days",
        2,
        36_500,
        "How long the vector of a text is kept after it was last used.",
    ),
    guarded(
        "history.hosts",
        30.0,
        "days",
        2,
        36_500,
        "How long an idle host is remembered after its last task was removed.",
    ),
    guarded(
        "history.ledger", 400.0, "days", 31, 36_500, "How long it is kept what each call of a model cost."
    ),
    guarded("schedule.every", 1.0, "seconds", 0.01, 3_600, "How often the schedules are looked at."),
    guarded(
        "schedule.max_missed", 100, "firings", 1, 100_000, "How many missed firings are made up for at most."
    ),
    guarded("settings.every", 5.0, "seconds", 0.01, 3_600, "How often a worker reads changed settings."),
    guarded(
        "web.rate",
        60,
        "requests a minute",
        1,
        1_000_000,
        "How many requests a minute a new key of the API may make.",
    ),
    guarded(
        "web.body_limit",
        1_048_576,
        "bytes",
        1_024,
        67_108_864,
        "The largest body of a request to the API; reading stops there.",
    ),
    guarded(
        "web.body_patience",
        30.0,
        "seconds",
        0.1,
        3_600,
        "How long a request to the API may take to arrive, or an answer to leave.",
    ),
    guarded(
        "web.connections",
        1_000,
        "connections",
        1,
        100_000,
        "How many connections to the API are served at once; more are told 503.",
    ),
    guarded(
        "web.address_connections",
        100,
        "connections",
        1,
        100_000,
        "How many of them one address may hold; a trusted proxy holds any.",
    ),
    guarded(
        "web.grace",
        10,
        "seconds",
        0,
        3_600,
        "How long a stopping server lets answers that are under way finish.",
    ),
    guarded("web.login_hours", 12.0, "hours", 0.01, 720, "How long an administrator stays logged in."),
    guarded(
        "web.login_rate",
        5,
        "tries a minute",
        1,
        1_000,
        "How often a minute one address may try a password for one name.",
    ),
    guarded(
        "web.login_address_rate",
        20,
        "tries a minute",
        1,
        10_000,
        "How often a minute passwords may be tried from one address.",
    ),
    guarded(
        "web.password_cost",
        15,
        "power of two",
        10,
        20,
        "How dear a new password is to check; one more doubles it.",
    ),
    *JOBS,
    *ROLES,
)

BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


def setting(name: str) -> Setting:
    """The setting of that name, or an error with the nearest names."""
    if name in BY_NAME:
        return BY_NAME[name]
    room = name.partition(".")[0]
    near = [known for known in BY_NAME if known.startswith(room + ".")] or sorted(
        {known.split(".")[0] for known in BY_NAME}
    )
    raise UnknownName(f"there is no setting {name!r}; did you mean one of: {', '.join(near)}?")


class Settings(Mapping[str, Number]):
    """The settings as they stand: the defaults, and over them whatever was changed."""

    def __init__(self, changed: Mapping[str, Number] | Iterable[tuple[str, Number]] = ()) -> None:
        self._changed = {name: setting(name).parse(value) for name, value in dict(changed).items()}

    def __getitem__(self, name: str) -> Number:
        return self._changed.get(name, setting(name).default)

    def __contains__(self, name: object) -> bool:
        return name in BY_NAME  # a mapping asks by KeyError; ours answers with advice instead

    def __iter__(self) -> Iterator[str]:
        return iter(BY_NAME)

    def __len__(self) -> int:
        return len(BY_NAME)

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
