"""What a stage is given besides its task."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from thresher.core.answer import Answer, Extract
from thresher.core.credentials import Credentials
from thresher.core.group import GroupStatus
from thresher.core.page import Page
from thresher.core.record import Found, Link, Mark, Neighbour, Where
from thresher.core.schema import Schema
from thresher.core.task import Task

T = TypeVar("T")


class Context(Protocol):
    """The hands of a stage. Everything reached through it is governed; nothing reached through it changes the
    queue.
    """

    @property
    def task(self) -> Task:
        """The task this attempt is for."""
        ...

    def now(self) -> int:
        """The time, in microseconds since 1970."""
        ...

    def setting(self, name: str) -> Any:
        """The value of a setting as it stands now."""
        ...

    async def save(self, body: bytes) -> str:
        """Store a body by its content and return its hash. Safe to repeat: the same bytes are stored once."""
        ...

    async def load(self, content_hash: str) -> bytes:
        """The body stored under this hash."""
        ...

    async def record(self, kind: str, key: str) -> Found | None:
        """One record as it stands now, or None."""
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
        """Records that match everything that is asked, the newest first; with `order`, by that mark instead.

        `order` is the name of a mark that holds a number, the least first; with a minus before it the
        greatest. A record without that mark is not found. `before` asks for those with smaller ids: the next
        page. `linked` asks for any link of that name.
        """
        ...

    async def records_of(self, kind: str, ids: Sequence[int]) -> list[Found]:
        """The records of a kind with these ids, in the order of their ids; those that are gone are left
        out.
        """
        ...

    async def points(self, kind: str, texts: Sequence[str]) -> Sequence[bytes | None]:
        """Vectors of these texts, in their order: packed 32-bit numbers of length one, to be compared with
        each other. They are kept in the store, so that each text is computed once. None where a text says
        nothing.
        """
        ...

    async def near(self, kind: str, text: str, limit: int = 10) -> list[Neighbour]:
        """What is known of a kind and has a name near this text, the nearest first. Today that is one kind:
        `role`.
        """
        ...

    async def group(self) -> GroupStatus | None:
        """The group or run this task belongs to, as it stands now; for the task that follows a group, the
        group it follows.
        """
        ...

    async def marks(self, kind: str, link: Link) -> Mapping[str, Mapping[str, Mark]]:
        """The marks of all records of a kind that belong to something, by their keys: much cheaper than the
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
        max_age: float | None = None,
        replay: bool = False,
        credentials: Credentials | None = None,
    ) -> Page:
        """The page behind a URL, politely: guarded, governed by its host's gate and its robots.txt, redirects
        included.

        A kept copy is used where the server allows it, or where it is at most `max_age` seconds old; with
        `replay` only a kept copy, however old. `render` lets a browser build the page; None does so where it
        turns out to be an empty shell that a script is to fill. What is no page is raised: `RateLimited`,
        `Blocked`, `Gone` and the others; let them pass, the worker knows what follows. `NotYet` is raised
        where waiting would take long: the stage is performed again later, so fetch first and work afterwards.

        Pass secrets as `credentials`: they go to their own origin only, and into no stored URL, log line or
        error.
        """
        ...

    async def ask(
        self, task_name: str, schema: Schema, inputs: Mapping[str, Any], *, tier: str | None = None
    ) -> Answer:
        """What a model says to the prompt of that name, each value with its place in the page, or unverified.

        `inputs` are JSON values and at most one `Material`, the page. The call is paid for in advance under
        every cap, and the same question is never paid for twice. Raises `BudgetExhausted` and `NotYet`: let
        them pass, the task waits.
        """
        ...

    async def can_ask(self, tier: str = "cheap") -> bool:
        """Whether a model could be asked now: one is configured, and its gate is not closed. For stages that
        can do without.
        """
        ...

    async def extract(
        self, page: Page, schema: Schema, *, site: str | None = None, tier: str | None = None
    ) -> Extract:
        """The fields of a page, at the least cost: by what was learned of the site, by its structured data,
        or by a model.

        Pages of one `site` look alike; unsaid it is the host. What cannot be read for certain is left out,
        and said in `doubts`.
        """
        ...

    async def compute(self, function: Callable[..., T], /, *args: object, seconds: float | None = None) -> T:
        """Call a function in a process of its own kind, and return what it returns: for reading pages, and
        for whatever computes long.

        It must be a function of a module; arguments and result are pickled. One that takes longer than
        `seconds`, or more memory than it may, is killed: `TooSlow` or `TooLarge`, which fail the task and
        harm no other.
        """
        ...

    async def tell(self, title: str, body: str) -> bool:
        """Send a message to everybody whom the project names (`notify:`); False where it names nobody."""
        ...

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """For a stage that is a plain function: `page = ctx.wait(ctx.fetch(url))`. An `async` stage awaits
        instead.
        """
        ...
