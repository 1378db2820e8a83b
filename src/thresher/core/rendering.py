"""What a browser does on a page: what it waits for, what it clicks, what it collects.

Selectors are written by the project, never taken from a page. They are CSS as a browser understands it, with
`:has-text("Load more")` and `:visible` besides. What is plainly none is refused here, before a browser
starts.
"""

from dataclasses import dataclass
from itertools import pairwise

from thresher.core.errors import UsageError
from thresher.core.limits import brief

MAX_SELECTOR = 1_000
MAX_STEPS = 100
MAX_REPEAT = 1_000
MAX_COLLECTED = 10_000
MAX_WAIT = 600.0
MAX_SECONDS = 3_600.0
# Kinds of resources that are not loaded, as nothing that is read depends on them. A picture of the page does.
BLOCKED = ("font", "image", "media")
BLOCKED_IN_PICTURES = ("media",)
KINDS = frozenset(
    {
        "stylesheet",
        "image",
        "media",
        "font",
        "script",
        "texttrack",
        "xhr",
        "fetch",
        "eventsource",
        "websocket",
        "manifest",
        "other",
    }
)
_PAIRS = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class Click:
    """Click the first element that matches. With `repeat`, click it again until it is gone or disabled, until
    a click changes nothing, or until it was clicked so many times: for a button that loads more.

    `wait` is how many seconds the element may take to appear, and the page to change after each click. An
    element that does not appear raises `NotClickable`; with `optional` the step is left out.
    """

    selector: str
    repeat: int = 1
    wait: float = 5.0
    optional: bool = False

    def __post_init__(self) -> None:
        check_selector(self.selector, "Click")
        _check_number(self.repeat, "Click: repeat", 1, MAX_REPEAT)
        _check_number(self.wait, "Click: wait", 0, MAX_WAIT)


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds, or until an element matches a selector."""

    until: float | str

    def __post_init__(self) -> None:
        if isinstance(self.until, str):
            check_selector(self.until, "Wait")
        else:
            _check_number(self.until, "Wait", 0, MAX_WAIT)


@dataclass(frozen=True, slots=True)
class Collect:
    """Click the elements that match one after the other, and collect the address that each leads to: for
    links that exist only after a click.

    A click counts if the address changes within `wait` seconds. The page behind it is not loaded: the browser
    stays, or goes back. At most `limit` elements are clicked. A selector that matches nothing raises
    `NotClickable`; with `optional` nothing is collected.
    """

    selector: str
    limit: int = 300
    wait: float = 5.0
    optional: bool = False

    def __post_init__(self) -> None:
        check_selector(self.selector, "Collect")
        _check_number(self.limit, "Collect: limit", 1, MAX_COLLECTED)
        _check_number(self.wait, "Collect: wait", 0.01, MAX_WAIT)


@dataclass(frozen=True, slots=True)
class Rendering:
    """What a browser does on a page: `ctx.fetch(url, render=True, rendering=Rendering(...))`.

    It waits until an element matches `wait_for`, else until the network is idle (not with `idle=False`), then
    takes the `steps` in their order. After that the page is taken. `screenshot` fills `page.screenshot` with
    a PNG of the first screen, 1280 by 800. `collect` comes last and fills `page.collected`.

    `block` names kinds of resources that are not loaded: images, media and fonts if it is None, with a
    screenshot media alone. `seconds` replaces the setting `fetch.total`, the time limit of the whole.
    """

    wait_for: str | None = None
    steps: tuple[Click | Wait, ...] = ()
    collect: Collect | None = None
    screenshot: bool = False
    idle: bool = True
    block: tuple[str, ...] | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.wait_for is not None:
            check_selector(self.wait_for, "wait_for")
        _check_steps(self.steps)
        if self.collect is not None and not isinstance(self.collect, Collect):
            raise UsageError(f"collect: write Collect(selector), not {brief(repr(self.collect))}")
        if strange := sorted(set(self.block or ()) - KINDS):
            raise UsageError(
                f"block: {', '.join(strange)} cannot be blocked; choose from {', '.join(sorted(KINDS))}"
            )
        if self.seconds is not None:
            _check_number(self.seconds, "seconds", 0.01, MAX_SECONDS)

    @property
    def blocked(self) -> frozenset[str]:
        """Return the kinds of resources that are not loaded."""
        if self.block is not None:
            return frozenset(self.block)
        return frozenset(BLOCKED_IN_PICTURES if self.screenshot else BLOCKED)

    @property
    def is_keepable(self) -> bool:
        """Tell whether the page cache can hold all that it brings. A cached page has neither picture nor
        collected addresses, and does not say which clicks were left unfinished.
        """
        return not self.screenshot and self.collect is None

    @property
    def variant(self) -> str:
        """Return what tells its page from the page of another rendering; empty for the default."""
        return "" if self == Rendering() else repr(self)


def check_selector(selector: object, where: str) -> None:
    """Refuse what is plainly no selector. The browser, which knows the whole grammar, refuses the rest."""
    if not isinstance(selector, str) or not selector.strip():
        raise UsageError(
            f"{where}: {brief(repr(selector))} is not a selector; write CSS, such as 'button.more'"
        )
    if len(selector) > MAX_SELECTOR:
        raise UsageError(
            f"{where}: a selector has at most {MAX_SELECTOR:,} characters, not {len(selector):,}"
        )
    if not selector.isprintable():
        raise UsageError(
            f"{where}: {brief(repr(selector))} is not a selector: it has characters without a shape"
        )
    if problem := _unbalanced(selector):
        raise UsageError(f"{where}: {brief(repr(selector))} is not a selector: {problem}")


def _unbalanced(selector: str) -> str | None:
    """Say which bracket or quote has no partner."""
    due: list[str] = []
    quote = ""
    for before, sign in pairwise("\0" + _without_escapes(selector)):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in _PAIRS:
            due.append(_PAIRS[sign])
        elif sign in _PAIRS.values() and (not due or due.pop() != sign):
            return f"the {sign} after {before!r} closes nothing"
    return f"a {quote or due[-1]} is missing" if quote or due else None


def _without_escapes(selector: str) -> str:
    parts = selector.split("\\")
    return parts[0] + "".join(part[1:] for part in parts[1:])


def _check_steps(steps: object) -> None:
    if not isinstance(steps, tuple) or len(steps) > MAX_STEPS:
        raise UsageError(
            f"steps must be a tuple of at most {MAX_STEPS} Click and Wait, got {brief(repr(steps))}"
        )
    for step in steps:
        if not isinstance(step, Click | Wait):
            raise UsageError(f"steps: {brief(repr(step))} is no step; write Click(selector) or Wait(seconds)")


def _check_number(value: object, where: str, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise UsageError(f"{where} must be a number from {least:g} to {most:,g}, got {brief(repr(value))}")
