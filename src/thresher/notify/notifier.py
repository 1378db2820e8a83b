"""One message to every target of a project. What brings it there is an extra, and is loaded with the first
message.

A target is named by its scheme and its place in the list, never by its address: addresses hold passwords and
secret topics.
"""

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from thresher.core.errors import ConfigError, Transient

if TYPE_CHECKING:
    from apprise import Apprise, AppriseResult

T = TypeVar("T")

TIMEOUT = 60.0
MAX_TITLE = 200
MAX_BODY = 20_000
MAX_WHY = 200

# What a chat takes for more than text: the name of a room or a person that is to be called, a tag, and a link
# under other words.
_CALL = re.compile(r"(?<![\w.+-])@(?=[\w&!])|@(?=everyone|here\b|channel|all\b|room\b|team\b)", re.IGNORECASE)
_TAG = re.compile(r"<(?!\s)")
_COVER = re.compile(r"\](?=[(\[:])")
_FENCE = re.compile(r"`(?=`)")
_ADDRESS = re.compile(r"\bhttps?://\S+", re.IGNORECASE)
_BREAK = "\N{ZERO WIDTH SPACE}"
_IN_ADDRESS = str.maketrans({char: f"%{ord(char):02X}" for char in "@<>[]`|"})

_log = logging.getLogger("thresher.notify")


@dataclass(frozen=True, slots=True)
class Missed:
    """A target that did not get a message, and why."""

    target: str
    why: str


@dataclass(frozen=True, slots=True)
class Sent:
    """Who got a message, and who did not. Nobody on both sides: there is nobody to tell."""

    delivered: tuple[str, ...] = ()
    missed: tuple[Missed, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.delivered)


class Notifier:
    """Tells the targets of a project. `unset` are variables that the project names and the environment
    lacks.
    """

    def __init__(self, urls: Sequence[str], unset: Sequence[str] = ()) -> None:
        self._urls, self._unset = tuple(urls), tuple(unset)
        self._ways: tuple[Apprise, ...] = ()

    def __bool__(self) -> bool:
        return bool(self._urls or self._unset)

    async def send(self, title: str, body: str) -> Sent:
        """Tell everybody. Raises `Transient` if it reached nobody, and `ConfigError` if it never could.

        Whoever was reached has been told: a target that fails beside one that works is named, not tried
        again, so that nobody reads the same message twice.
        """
        if not self:
            return Sent()
        ways = self._opened()
        line, text = _line(title), _text(body, MAX_BODY)
        said = await asyncio.gather(
            *(way.async_notify(body=text, title=line, body_format="text", timeout=TIMEOUT) for way in ways)
        )
        sent = _sent(self._names(), said)
        if not sent:
            raise Transient(
                f"no one could be notified: {'; '.join(f'{each.target}: {each.why}' for each in sent.missed)}"
            )
        for each in sent.missed:
            _log.warning("%s was not notified: %s", each.target, each.why)
        return sent

    def check(self) -> tuple[str, ...]:
        """The names of the targets, all of them usable as far as one can say without sending. Raises
        `ConfigError`.
        """
        if self:
            self._opened()
        return self._names()

    def _opened(self) -> "tuple[Apprise, ...]":
        if self._unset:
            raise ConfigError(
                f"notify names the environment variable {' and '.join(self._unset)}, which is not "
                "set; set it and start again"
            )
        self._ways = self._ways or _open(self._urls)
        return self._ways

    def _names(self) -> tuple[str, ...]:
        return tuple(map(_name, range(len(self._urls)), self._urls))


def _open(urls: Sequence[str]) -> "tuple[Apprise, ...]":
    """A way to each target, apart: so that what came of each is known."""
    try:
        from apprise import Apprise, AppriseAsset  # noqa: PLC0415  an extra, and slow to import
    except ImportError:
        raise ConfigError("sending messages needs a library: pip install 'thresher[notify]'") from None
    logging.getLogger(
        "apprise"
    ).propagate = False  # its lines quote addresses; what it has to say stands in its results
    # Nothing is left on the disk, and no text of a page becomes an escape or an emoji.
    asset = AppriseAsset(
        app_id="Thresher", app_desc="Thresher", storage_mode="memory", interpret_emojis=False
    )
    return tuple(
        Apprise(_target(Apprise.instantiate(url, asset=asset), at, url), asset=asset)
        for at, url in enumerate(urls)
    )


def _target(found: T | None, at: int, url: str) -> T:
    if found is None:
        raise ConfigError(
            f"{_name(at, url)} is not an address that messages can be sent to; "
            "docs/how-to/get-notified.md has examples"
        )
    return found


def _sent(names: Sequence[str], said: "Sequence[AppriseResult]") -> Sent:
    pairs = list(zip(names, said, strict=True))
    missed = tuple(Missed(name, _why(result)) for name, result in pairs if not result)
    return Sent(tuple(name for name, result in pairs if result), missed)


def _why(result: "AppriseResult") -> str:
    last = [str(entry.message) for entry in result.logs()][-1:]
    return " ".join((last or ["it gives no reason"])[0].split())[:MAX_WHY]


def _name(at: int, url: str) -> str:
    return f"notify[{at}] ({url.partition(':')[0][:20]}://…)"


def _line(text: str) -> str:
    """One line: a title is a header of a mail, and a line break in it would begin another."""
    return " ".join(_text(text, MAX_TITLE).split())


def _text(text: str, most: int) -> str:
    clean = _tamed("".join(char if char.isprintable() or char == "\n" else " " for char in text))
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"


def _tamed(text: str) -> str:
    """Text that calls nobody and links nowhere but where it says, in any chat: `@everyone`, `<!channel>`,
    `[words](address)` stay words.

    An address still leads where it led; the characters that a chat would take for its own are written as HTTP
    writes them.
    """
    parts, end = [], 0
    for found in _ADDRESS.finditer(text):
        scheme, _, rest = found[0].partition("://")
        parts += [_broken(text[end : found.start()]), f"{scheme}://{rest.translate(_IN_ADDRESS)}"]
        end = found.end()
    return "".join([*parts, _broken(text[end:])])


def _broken(text: str) -> str:
    for pattern in (_CALL, _TAG, _COVER, _FENCE):
        text = pattern.sub(lambda found: found[0] + _BREAK, text)
    return text
