"""The audit log: who changed what, when, and by which way. What was asked for is told in words that hold no
secret.
"""

import re
from collections.abc import Iterable

from thresher.admin.keys import Admitted
from thresher.admin.rows import ChangeFields
from thresher.core.redaction import redact
from thresher.store import audit
from thresher.store.audit import API, COMMAND_LINE, DASHBOARD, KEY, PERSON, USER, Actor, acting, actor_now
from thresher.store.store import Store

__all__ = ["API", "COMMAND_LINE", "DASHBOARD", "Actor", "acting", "actor_now"]

MAX_VALUE = 100  # characters of one value
_HIDDEN = "***"
_TELLING = r"(?:pass(?:word|phrase|wd)?|secret|token|credentials?|authorization|cookie|api[_-]?key|csrf)"
_NAME = re.compile(_TELLING, re.IGNORECASE)
# What shows somebody into a site, and keys and tokens of ours, wherever they stand in a text. Anybody may
# send a text of megabytes, so no pattern looks at a stretch of it from each of its places.
_PATTERNS = (
    (re.compile(r"://[^\s/?#]*@"), f"://{_HIDDEN}@"),
    (re.compile(r"\b(thr_[0-9a-f]{12}|ths|thl|thp)_[A-Za-z0-9_-]{8,}"), rf"\1_{_HIDDEN}"),
    (re.compile(r"\bwhsec_[A-Za-z0-9+/=]{8,}"), f"whsec_{_HIDDEN}"),
    (re.compile(r"\b(bearer|basic)\s++\S+", re.IGNORECASE), rf"\1 {_HIDDEN}"),
    (
        re.compile(
            rf"((?<![\w.-])(?=[\w.-]*{_TELLING})[\w.-]++[\"']?\s*+[=:]\s*+)(?:\"[^\"]*\"|'[^']*'|[^\s&,;}}\"']+)",
            re.IGNORECASE,
        ),
        rf"\1{_HIDDEN}",
    ),
)


def list_changes(
    store: Store, *, who: str | None = None, limit: int = 50, before: int | None = None
) -> list[ChangeFields]:
    """Who changed what, the newest first: of one person, key or user, and before an id."""
    with store.read() as session:
        return audit.find_changes(session, limit=limit, who=who, before=before)


def actor_of(who: Admitted, via: str, action: str) -> Actor:
    """Whoever holds a key or is logged in, as the one who acts."""
    return Actor(who.name, PERSON if who.is_person else KEY, who.role, via, without_secrets(action))


def user_of(name: str, action: str) -> Actor:
    """Whoever sits at the command line."""
    return Actor(name, USER, None, COMMAND_LINE, without_secrets(action))


def person_of(name: str, role: str, via: str, action: str) -> Actor:
    """Somebody who is only just being let in."""
    return Actor(name, PERSON, role, via, without_secrets(action))


def with_values(action: str, values: Iterable[tuple[str, object]]) -> str:
    """What was asked for with the values that were given, each cut; one whose name says that it is secret is
    not shown.
    """
    shown = (f"{name}={_HIDDEN if _NAME.search(name) else _brief(value)}" for name, value in values)
    return " ".join((action, *shown))


def _brief(value: object) -> str:
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    text = without_secrets(str(value))
    cut = text if len(text) <= MAX_VALUE else f"{text[: MAX_VALUE - 1]}…"
    return repr(cut) if isinstance(value, str) else cut


def without_secrets(text: str) -> str:
    """A text without the passwords, keys and tokens in it: what no log tells, and what only people type."""
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return redact(text)
