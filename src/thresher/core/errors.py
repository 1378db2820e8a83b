"""Every error Thresher raises, in one tree.

    ThresherError
    ├── UsageError             a person or a program asked for something that cannot be; nothing was changed
    │   ├── ConfigError        thresher.yaml, an environment variable or a setting is wrong
    │   │   └── NoBrowser      this machine cannot render: no Chromium, no extra, or it does not start
    │   ├── UnknownName        no such task, source, setting, schedule or kind
    │   ├── InvalidUrl         not a web address
    │   ├── InvalidPayload     a payload or a value that cannot be stored: not JSON, too large, out of range
    │   ├── InvalidOutcome     a stage returned something that is not an outcome
    │   ├── DuplicateKind      two apps claim one kind of task
    │   └── NotAllowed         the transition table has no such arrow
    ├── DatabaseProblem        cannot be opened, is read-only, locked, full, or newer than this code
    │   ├── NewerSchema        a newer Thresher has migrated it: upgrade this one
    │   └── PartlyEnqueued     failed between two portions of a large enqueue; says which tasks were accepted
    ├── ProcessDied            a process that computed for a stage died; the attempt is tried again
    └── TaskError              raised by a stage; the policy table says what follows
        ├── Transient          worth another try: spends a failure, counts towards the breaker
        │   ├── TimedOut
        │   ├── ConnectionFailed
        │   └── ServerError    the far side answered 5xx
        ├── RateLimited        the source asked us to wait: closes its gate, spends nothing
        ├── BudgetExhausted    money or quota is gone: closes the provider's gate, spends nothing
        ├── NotYet             our own limits or a missing robots.txt ask for patience: spends nothing
        ├── ClaimLost          the task is in other hands: nothing more is sent, nothing is written
        ├── Blocked            a bot wall or CAPTCHA: disables the source, tag anti_bot
        ├── Unauthorized       bad credentials: disables the source, tag auth
        ├── Undeliverable      a webhook's endpoint is gone: disables the webhook, tag undeliverable
        └── Permanent          no second try can help
            ├── Forbidden      403 to somebody without credentials: this page is not for us
            ├── Gone           404, 410
            ├── Malformed      the answer cannot be read; kept for inspection
            │   └── NotClickable   a rendering is to click what the page does not have
            ├── TooLarge       over a limit of size or memory
            ├── TooSlow        reading it took longer than its limit, and was stopped
            └── Refused        our own policy forbids it (robots.txt, private address)

What a class means for retries is an attribute of the class, never a word searched for in a message.
`exit_code` is what the command line ends with.
"""

from collections.abc import Sequence
from typing import ClassVar


class ThresherError(Exception):
    """The base of all errors raised on purpose. `retryable`: whether a stage that raised it may be tried
    again.
    """

    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = True


class UsageError(ThresherError):
    """The request is impossible. The message says what is wrong and what to do. A stage that raises it is not
    retried: it would ask for the same again.
    """

    exit_code = 2
    retryable = False


class ConfigError(UsageError):
    """A configuration value is wrong. The message names the key, the value, and what it must be. A stage that
    raises it is retried: someone may correct the value, or another worker may have it.
    """

    exit_code = 3
    retryable = True


class NoBrowser(ConfigError):
    """Pages cannot be rendered on this machine: there is no Chromium, it does not start, or the extra is not
    installed.
    """


class UnknownName(UsageError):
    """Nothing has that name."""

    exit_code = 4


class InvalidUrl(UsageError):
    """Not a web address."""


class InvalidPayload(UsageError):
    """A payload or value that cannot be stored: not JSON, over the limit, or out of range. If a stage returns
    it, the task fails.
    """


class InvalidOutcome(UsageError):
    """A stage returned something that is not an outcome, or an outcome with something in it that does not
    belong there.
    """


class DuplicateKind(UsageError):
    """Two pipelines define the same kind of task."""


class NotAllowed(UsageError):
    """The task's state does not allow this change."""

    exit_code = 5


class DatabaseProblem(ThresherError):
    """The database cannot do what was asked: unreachable, read-only, locked, full, or newer than this code.

    Nobody asked for something wrong, so this is no `UsageError`: whoever catches those to go on without an
    answer must not take a database that is away for one.
    """

    exit_code = 6


class NewerSchema(DatabaseProblem):
    """A newer version of Thresher has migrated the database. A running worker that notices hands back its
    tasks and stops.
    """

    exit_code = 7


class PartlyEnqueued(DatabaseProblem):
    """A large enqueue failed between two batches. `ids` has the results for the first entries; the others
    were not accepted.
    """

    def __init__(self, problem: Exception, ids: Sequence[int | None], wanted: int) -> None:
        super().__init__(
            f"{problem} ({len(ids):,} of {wanted:,} tasks were accepted; enqueue the others again)"
        )
        self.ids = ids


class ProcessDied(ThresherError):
    """A process that computed something for a stage died. No one outside is to blame, and a retry
    may work.
    """


class TaskError(ThresherError):
    """Raised inside a stage. `gate` names the gate to blame; without it the first gate of the lane is meant.

    `away` is set where that gate has heard of it already: in so many seconds the task comes back, and nobody
    is told twice. `near`: the gate is one of the task's own lane, so that the task can wait in front of it.
    `status` and `answer` are the HTTP status and the beginning of the text that the error was made of: what a
    stranger wrote, for whoever knows the API. They are not stored.
    """

    retryable: ClassVar[bool] = False
    spends_failure: ClassVar[bool] = True

    def __init__(self, message: str = "", *, gate: str | None = None) -> None:
        super().__init__(message or type(self).__name__)
        self.gate = gate
        self.away: float | None = None
        self.near = gate is None
        self.status: int | None = None
        self.answer = ""


class Transient(TaskError):
    """Something that may work next time."""

    retryable = True


class TimedOut(Transient):
    """No response in time."""


class ConnectionFailed(Transient):
    """The server could not be reached, or closed the connection."""


class ServerError(Transient):
    """The server reports an error of its own (5xx)."""


class _Waits(TaskError):
    retryable = True
    spends_failure = False

    def __init__(self, message: str = "", *, retry_after: float = 60.0, gate: str | None = None) -> None:
        super().__init__(message, gate=gate)
        self.retry_after = retry_after


class RateLimited(_Waits):
    """429, or 503 with Retry-After: the gate closes for `retry_after` seconds. `asked`: the source itself
    said how long.
    """

    asked: bool = False


class BudgetExhausted(_Waits):
    """The money or quota is used up: the provider's gate closes for `retry_after` seconds.

    `scope` says which cap it was: `call`, `run`, `app` or `day`; None: the provider's quota. `own`: it was
    the budget that the stage named itself, so the stage may catch it.
    """

    scope: str | None = None
    own: bool = False


class NotYet(_Waits):
    """It must wait longer than a worker should hold it: the task comes back in `retry_after` seconds."""


class ClaimLost(TaskError):
    """This attempt no longer holds the task: it must stop, and the fence refuses its results."""

    retryable = True
    spends_failure = False


class Blocked(TaskError):
    """A bot wall or CAPTCHA. The source is disabled until someone enables it."""

    retryable = True
    spends_failure = False


class Unauthorized(TaskError):
    """The credentials were refused. The source is disabled until someone fixes them."""

    retryable = True
    spends_failure = False


class Undeliverable(TaskError):
    """An endpoint of a webhook wants no more messages, may not be reached, or has taken none for days. Its
    deliveries wait until someone enables it.
    """

    retryable = True
    spends_failure = False


class Permanent(TaskError):
    """Retrying cannot help."""


class Forbidden(Permanent):
    """403, although we sent no credentials that could be wrong. The page is given up; a host that forbids
    everything trips its breaker.
    """


class Gone(Permanent):
    """404 or 410."""


class Malformed(Permanent):
    """The response cannot be read."""


class NotClickable(Malformed):
    """A rendering is to click something that the page does not have, or that cannot be clicked. `selector`
    names it.
    """

    def __init__(self, message: str = "", *, selector: str = "", gate: str | None = None) -> None:
        super().__init__(message, gate=gate)
        self.selector = selector


class TooLarge(Permanent):
    """Over a limit of size or memory."""


class TooSlow(Permanent):
    """Reading it exceeded the time limit and was stopped."""


class Refused(Permanent):
    """Our own policy forbids it."""
