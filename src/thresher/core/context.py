"""What a stage is given besides its task."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from thresher.core.answer import Extract, ModelAnswer
from thresher.core.credentials import Credentials
from thresher.core.group import GroupStatus
from thresher.core.page import Page
from thresher.core.record import Found, Link, Mark, Neighbour, Where
from thresher.core.rendering import Rendering
from thresher.core.schema import Schema
from thresher.core.task import Task

T = TypeVar("T")


class Context(Protocol):
    """What a stage may use: pages, models, records, settings. Everything here is rate-limited and guarded,
    and nothing here changes the queue.
    """

    @property
    def task(self) -> Task:
        """The task this attempt is for."""
        ...

    def now(self) -> int:
        """The time, in microseconds since 1970."""
        ...

    def setting(self, name: str) -> Any:
        """Return the current value of a setting."""
        ...

    async def save(self, body: bytes) -> str:
        """Store a body by its content and return its hash. Safe to repeat: the same bytes are stored once."""
        ...

    async def load(self, content_hash: str) -> bytes:
        """Return the body stored under this hash."""
        ...

    async def record(self, kind: str, key: str) -> Found | None:
        """Return one record as it is now, or None."""
        ...

    async def records(
        self,
        kind: str,
        *,
        keys: Sequence[str] | None = None,
        link: Link | None = None,
        where: Sequence[Where] = (),
        order: str | None = None,
        before: int | None = None,
        limit: int = 100,
        linked: str | None = None,
    ) -> list[Found]:
        """Return records that match all conditions, newest first; with `order`, sorted by that mark instead.

        `order` is the name of a mark that holds a number, smallest first; with a minus before it, largest
        first. A record without that mark is not found. `before` returns records with smaller ids: the next
        page. `linked` requires any link of that name.
        """
        ...

    async def records_of(self, kind: str, ids: Sequence[int]) -> list[Found]:
        """Return the records of a kind with these ids, in the order of their ids. Missing ones are
        left out.
        """
        ...

    async def read(self, name: str, data: Mapping[str, Any] = {}) -> Any:
        """Ask the tables of the task's own app. `name` is one of those in `App.reads`."""
        ...

    async def points(self, kind: str, texts: Sequence[str]) -> Sequence[bytes | None]:
        """Return the vectors of these texts, in order: packed 32-bit numbers of length one, to compare with
        each other. They are cached in the store, so each text is computed once. None for a text without
        content.
        """
        ...

    async def near(self, kind: str, text: str, limit: int = 10) -> list[Neighbour]:
        """Return things of a kind whose name is similar to this text, most similar first. Apps define the
        kinds.
        """
        ...

    async def group(self) -> GroupStatus | None:
        """Return the group or run of this task, as it is now; for the follow-up task of a group,
        that group.
        """
        ...

    async def marks(self, kind: str, link: Link) -> Mapping[str, Mapping[str, Mark]]:
        """Return the marks of all records of a kind that belong to something, by key: much cheaper than the
        records.
        """
        ...

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
        """Fetch a page politely: guarded, and limited by its host's gate and robots.txt, redirects included.

        A stored copy is used if the server allows it, or if it is at most `max_age` seconds old; with
        `replay` only a stored copy, however old. `render=True` renders the page in a browser; None does so
        only if the page is an empty shell for a script to fill. `rendering` says what the browser does on it:
        wait, click, take a screenshot, collect addresses. Anything but a page is raised: `RateLimited`,
        `Blocked`, `Gone` and so on; do not catch them, the worker handles them. `NotYet` is raised if the
        wait would be long: the stage runs again later, so fetch first and work afterwards.

        Pass secrets as `credentials`: they are sent to their own origin only, and never appear in a stored
        URL, log line or error.
        """
        ...

    async def ask(
        self,
        task_name: str,
        schema: Schema,
        inputs: Mapping[str, Any],
        *,
        tier: str | None = None,
        budget: float | None = None,
    ) -> ModelAnswer:
        """Ask a model with the prompt of that name. Every value has its place in the page, or is unverified.

        `inputs` are JSON values and at most one `Material`, the page. The call is reserved in advance under
        every budget, and the same question is never paid for twice. Raises `BudgetExhausted` and `NotYet`: do
        not catch them, the task waits.

        `budget` are the dollars that this task and everything in its lineage may spend in all; where the
        setting `budget.run` is smaller, that holds. Once it is used up, `BudgetExhausted` is raised with
        `own` set, which a stage may catch.
        """
        ...

    async def can_ask(self, tier: str = "cheap") -> bool:
        """Tell whether a model could be asked now: one is configured, and its gate is open. For stages that
        can do without.
        """
        ...

    async def extract(
        self,
        page: Page,
        schema: Schema,
        *,
        site: str | None = None,
        tier: str | None = None,
        budget: float | None = None,
    ) -> Extract:
        """Read the fields of a page at the lowest cost: with what was learned of the site, with its
        structured data, or with a model.

        Pages of one `site` look alike; the default is the host. Values that cannot be read for certain are
        left out, and `doubts` say so. `budget` is as in `ask`.
        """
        ...

    async def learn(
        self, pages: Sequence[Page], schema: Schema, *, site: str | None = None
    ) -> tuple[str, ...]:
        """Learn a site from what several of its pages say of themselves: in their structured data, or behind
        labels that are names of fields. No model is asked.

        Returns the fields that `extract` reads on such pages from now on; none if nothing could be learned.
        Fields that the pages do not label are not learned, so use it where no model can be asked.
        """
        ...

    async def compute(self, function: Callable[..., T], /, *args: object, seconds: float | None = None) -> T:
        """Call a function in a separate process and return its result: to read pages, and for long
        computations.

        It must be a module-level function; arguments and result are pickled. If it exceeds `seconds` or its
        memory limit it is killed with `TooSlow` or `TooLarge`, which fail this task and harm no other.
        """
        ...

    async def tell(self, title: str, body: str) -> bool:
        """Send a message to everyone listed under `notify:` in the project; return False if the list is
        empty.
        """
        ...

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """For a plain-function stage: `page = ctx.wait(ctx.fetch(url))`. An `async` stage awaits instead."""
        ...
