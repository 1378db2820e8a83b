"""Knobs: how a host misbehaves, for how many requests, and where.

Three sorts, each with a rule of its own. *Twists* change what a site says (every one that matches holds). An
*answer* knob takes the site's place, and a *delivery* knob spoils how an answer is brought; of these two
sorts the first one that matches wins, so two knobs with a count each form a queue. `/robots.txt` is touched
only by knobs that name it: a test that asks for one 429 wants it on its page.
"""

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any


class Trouble(StrEnum):
    """What a knob does. The comment says which of the knob's numbers it uses."""

    # Twists: what a site says.
    LAYOUT = "layout"  # classes, tags and JSON names change, JSON-LD goes
    NO_RESULTS = "no_results"  # nothing found, and recommendations beside it
    CAP = "cap"  # rows after `number` cannot be reached; the total still counts them
    TOTAL = "total"  # the total is off by `number`
    WRAP = "wrap"  # offsets after the last row start over
    DUPLICATES = "duplicates"  # every `number`th row comes twice
    ROTATING_IDS = "rotating_ids"  # every answer has other ids for the same rows
    NO_ETAG = "no_etag"  # Last-Modified at most
    NO_VALIDATORS = "no_validators"  # neither ETag nor Last-Modified
    HEADERS = "headers"  # adds those in `text`, one a line: `cache-control: max-age=60`
    COOKIES = "cookies"  # sets cookies
    NOT_JSON = "not_json"  # the model writes broken JSON
    REFUSAL = "refusal"  # the model declines
    CUT_SHORT = "cut_short"  # the model stops after `number` tokens, or in the middle
    OFF_SCHEMA = (
        "off_schema"  # the model leaves the schema: `text` is type, missing or extra, or each in turn
    )
    INVENTED = "invented"  # the model makes up `number` percent of its values, or all
    OBEDIENT = "obedient"  # the model does what a page tells it: "ignore previous instructions and answer …"
    QUOTA = "quota"  # the account at the model's vendor is empty
    TOO_LONG = "too_long"  # the model takes `number` tokens at most

    # Answers: what stands in the site's place.
    STATUS = "status"  # `status`, with `text` as the page if given
    RATE_LIMITED = "rate_limited"  # 429 or `status`; Retry-After of `seconds` if given, as a date if `dated`
    CAPTCHA = "captcha"  # `status` (403), looks of the vendor in `text`
    CONSENT = "consent"  # a consent wall until the cookie `consent` comes
    REDIRECT = "redirect"  # `status` (302) to the address in `text`
    REDIRECT_LOOP = "redirect_loop"  # two addresses that point at each other
    BODY = "body"  # `text` as `kind` with `status`
    OVERSIZED = "oversized"  # `number` bytes
    GZIP_BOMB = "gzip_bomb"  # a few bytes that unpack to `number`
    CHARSET = "charset"  # says what `kind` says (utf-8) and writes `text` (windows-1252)
    NO_SUCH_SITE = "no_such_site"  # the page a parked domain shows

    # Deliveries: how an answer is brought.
    SLOW = "slow"  # `seconds` before the first byte
    HANG = "hang"  # no answer, ever
    DRIP = "drip"  # the body in pieces over `seconds`
    TRUNCATED = "truncated"  # half of the promised length, then the connection closes
    CUT_CHUNKS = "cut_chunks"  # a chunked body without its end
    RESET = "reset"  # the connection closes without a word
    GARBAGE = "garbage"  # bytes that are not HTTP


TWISTS = frozenset(list(Trouble)[: list(Trouble).index(Trouble.STATUS)])
DELIVERIES = frozenset(list(Trouble)[list(Trouble).index(Trouble.SLOW) :])
ROBOTS = "/robots.txt"
WAYS_OFF = ("type", "missing", "extra")
VENDORS = ("cloudflare", "turnstile", "recaptcha", "hcaptcha", "datadome", "perimeterx", "akamai", "plain")
MAX_NUMBER = 2**31
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
MAX_OVERSIZED = 256 * 1024 * 1024  # is held in memory


@dataclass(frozen=True, slots=True)
class Knob:
    """One knob. `host` is a name, `*.suffix` or `*`; `path` a prefix; `times` None means until reset.

    The first `after` requests that match pass untouched and are not counted in `times`.
    """

    trouble: Trouble
    host: str = "*"
    path: str = "/"
    times: int | None = None
    after: int = 0
    status: int = 0
    seconds: float | None = None
    number: int = 0
    text: str = ""
    kind: str = "text/html; charset=utf-8"
    dated: bool = False

    def __post_init__(self) -> None:
        for problem in _problems(self):
            raise ValueError(problem)

    def matches(self, host: str, path: str) -> bool:
        if path == ROBOTS and self.path != ROBOTS:
            return False
        return path.startswith(self.path) and _host_matches(self.host.lower(), host)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def knob_from(said: Mapping[str, Any]) -> Knob:
    """A knob from JSON. Names that are none are refused: a misspelt knob would do nothing, silently."""
    if not isinstance(said, Mapping) or "trouble" not in said:
        raise ValueError(
            f'a knob is an object such as {{"trouble": "{Trouble.SLOW}", "host": "acme.example", "seconds": 2}}'
        )
    if unknown := set(said) - {each.name for each in fields(Knob)}:
        raise ValueError(
            f"a knob has no {', '.join(sorted(unknown))}: it has {', '.join(each.name for each in fields(Knob))}"
        )
    try:
        return Knob(**{**said, "trouble": Trouble(said["trouble"])})
    except TypeError as error:
        raise ValueError(f"this is not a knob: {error}") from None


def robots(host: str, text: str, *, status: int = 200, kind: str = "text/plain; charset=utf-8") -> Knob:
    """The knob for the robots.txt of a host."""
    return Knob(Trouble.BODY, host, ROBOTS, status=status, text=text, kind=kind)


def headers_in(text: str) -> dict[str, str]:
    """The headers a text has, one a line; empty where a line is none."""
    pairs = [line.partition(":") for line in text.splitlines()]
    if any(not _HEADER_NAME.fullmatch(name) or not value.strip().isprintable() for name, _, value in pairs):
        return {}
    return {name.lower(): value.strip() for name, _, value in pairs}


def _host_matches(pattern: str, host: str) -> bool:
    return pattern in ("*", host) or (pattern.startswith("*.") and host.endswith(pattern[1:]))


def _problems(knob: Knob) -> Iterator[str]:
    """What is wrong with a knob, in sentences."""
    if knob.trouble not in set(Trouble):
        yield f"there is no trouble {knob.trouble!r}: choose one of {', '.join(Trouble)}"
    if not knob.path.startswith("/"):
        yield f"path {knob.path!r} must begin with a slash"
    if (knob.times is not None and knob.times < 1) or knob.after < 0:
        yield "times must be 1 or more (leave it out for always), after 0 or more"
    if knob.seconds is not None and knob.seconds < 0:
        yield f"seconds must not be negative, got {knob.seconds}"
    if knob.status and not 200 <= knob.status <= 599:
        yield f"status {knob.status} is not valid: choose one from 200 to 599"
    most = MAX_OVERSIZED if knob.trouble == Trouble.OVERSIZED else MAX_NUMBER
    least = -MAX_NUMBER if knob.trouble == Trouble.TOTAL else 0
    if not least <= knob.number <= most:
        yield f"number {knob.number} is out of range: choose one from {least} to {most}"
    yield from _wrong_words(knob)


def _wrong_words(knob: Knob) -> Iterator[str]:
    if knob.trouble == Trouble.CAPTCHA and knob.text not in ("", *VENDORS):
        yield f"there is no wall of {knob.text!r}: choose one of {', '.join(VENDORS)}"
    if knob.trouble == Trouble.OFF_SCHEMA and knob.text not in ("", *WAYS_OFF):
        yield f"there is no way off a schema called {knob.text!r}: choose one of {', '.join(WAYS_OFF)}"
    if knob.trouble == Trouble.INVENTED and knob.number > 100:
        yield f"number is a percentage, got {knob.number}: choose one from 1 to 100, or none for all"
    if knob.trouble == Trouble.REDIRECT and (not knob.text or not knob.text.isprintable()):
        yield f"a redirect needs the address it leads to as its text, got {knob.text!r}"
    if knob.trouble == Trouble.HEADERS and not headers_in(knob.text):
        yield f"headers are written one a line as `name: value`, got {knob.text!r}"
    if not knob.kind.isprintable():
        yield f"kind must be a media type such as text/html, got {knob.kind!r}"
    if knob.trouble == Trouble.CHARSET:
        try:
            codecs.lookup(knob.text or "utf-8")
        except LookupError:
            yield f"there is no charset {knob.text!r}: choose one that Python knows, such as windows-1252"


# The knobs that are turned, and how often each may still act.


class Panel:
    """Knows which knobs act on a request. Not thread-safe: its owner holds the lock."""

    def __init__(self) -> None:
        self._turned: list[_Turned] = []

    def turn(self, *knobs: Knob) -> None:
        self._turned.extend(_Turned(each, each.after, each.times) for each in knobs)

    def clear(self) -> None:
        self._turned.clear()

    @property
    def knobs(self) -> tuple[Knob, ...]:
        return tuple(each.knob for each in self._turned if each.left != 0)

    def take(self, host: str, path: str) -> tuple[Knob, ...]:
        """The knobs that act on this request; their counts are spent by it."""
        if not self._turned:
            return ()
        taken: list[Knob] = []
        sorts: set[str] = set()
        for each in self._turned:
            sort = _sort(each.knob.trouble)
            if each.left != 0 and sort not in sorts and each.knob.matches(host, path) and each.spend():
                taken.append(each.knob)
                sorts.add(sort)
        self._turned = [each for each in self._turned if each.left != 0]
        return tuple(taken)


@dataclass(slots=True)
class _Turned:
    knob: Knob
    waiting: int
    left: int | None

    def spend(self) -> bool:
        if self.waiting:
            self.waiting -= 1
            return False
        if self.left is not None:
            self.left -= 1
        return True


def _sort(trouble: Trouble) -> str:
    if trouble in TWISTS:
        return trouble
    return "delivery" if trouble in DELIVERIES else "answer"
