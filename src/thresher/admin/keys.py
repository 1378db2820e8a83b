"""API keys: create, list, switch off and on, revoke and check them.

A key reads `thr_PREFIX_SECRET`. The prefix finds its row and is shown in lists; the secret is 256 random
bits, of which only a hash is stored. It cannot be guessed, so a fast hash is enough and a check takes
microseconds.
"""

import hashlib
import hmac
import re
import secrets
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated

from thresher.admin.rows import Fields, MadeKey
from thresher.core.app import App
from thresher.core.clock import SECOND, to_us
from thresher.core.errors import ConfigError, NotAllowed, UnknownName, UsageError
from thresher.store import keys
from thresher.store.keys import Key, NewKey
from thresher.store.store import Store

MAX_NAME = 100
MAX_SOURCES = 100
MAX_SCOPES = 100
MAX_SOURCE = 60
MAX_DIGITS = 15
MAX_RATE = 1_000_000
MAX_SECONDS = 100 * 365 * 86_400.0
_TOKEN = re.compile(r"thr_([0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)
# Compared with an unknown key, so that it takes as long to refuse as a known one with a wrong secret.
_NOBODY = hashlib.sha256(b"").hexdigest()


READ, WRITE, ADMIN = "read", "write", "admin"
# Scopes and their descriptions. Apps add their own, which no other scope includes: not even `admin`.
SCOPES: Mapping[str, str] = {
    READ: "see everything but keys and people",
    WRITE: "change tasks, sources, settings and what apps look for",
    ADMIN: "everything that read and write allow, and manage keys and people",
}
_WITHIN_ADMIN = (READ, WRITE)


def known_scopes(apps: Iterable[App]) -> dict[str, str]:
    """Every scope that a key can have here, with its sentence: those of the apps first."""
    found: dict[str, str] = {}
    for app in apps:
        if taken := sorted(app.scopes.keys() & {*SCOPES, *found}):
            raise ConfigError(f"the scope {taken[0]!r} of the app {app.name!r} already exists; rename it")
        found |= app.scopes
    return {**found, **SCOPES}


def default_scopes(apps: Iterable[App]) -> tuple[str, ...]:
    """What a key opens of which nothing was said: the first scope that an app brings, else it reads."""
    return (next(iter(known_scopes(apps))),)


@dataclass(frozen=True, slots=True)
class Made:
    """A new key. `token` is what its owner sends; it can never be shown again."""

    token: str
    key: Key


@dataclass(frozen=True, slots=True)
class Admitted:
    """Whoever holds a good key, or is logged in (then they have a `role`), and what that opens.

    `id` is that of the key, or of the person. `sources` are the platforms that a key may look at; None is all
    of them. `is_proxied`: it is a proxy that says who this is, and not a login.
    """

    id: int
    name: str
    scopes: tuple[str, ...]
    sources: tuple[str, ...] | None = None
    role: str | None = None
    is_proxied: bool = False

    @property
    def is_person(self) -> bool:
        return self.role is not None

    @property
    def who(self) -> str:
        """For the history: who did something."""
        return f"{'administrator' if self.role == ADMIN else self.role or 'key'} {self.name}"

    def opens(self, scope: str) -> bool:
        return scope in self.scopes or (ADMIN in self.scopes and scope in _WITHIN_ADMIN)


@dataclass(frozen=True, slots=True)
class Denied:
    """Why someone is not let in. `retry_after` in seconds: the key is valid, but over its rate."""

    says: str
    retry_after: int | None = None


def create_key(
    store: Store,
    name: str,
    scopes: Collection[str],
    *,
    apps: Iterable[App] = (),
    sources: Collection[str] | None = None,
    lasts: float | None = None,
    rate: int | None = None,
    made_by: str | None = None,
) -> Made:
    """Make a key with these scopes, ours or those of `apps`. `lasts` in seconds; without it the key lasts
    until it is revoked.
    """
    there = known_scopes(apps)
    known = [scope for scope in there if scope in scopes]
    if not known or set(scopes) - set(known):
        got = ", ".join(sorted(map(repr, scopes))) or "nothing"
        raise UsageError(
            f"a scope must be one of {', '.join(there)}; repeat the option for several: --scope read "
            f"--scope write; got {got}"
        )
    _check_name(name)
    _check(lasts, rate)
    allowed = store.settings.count("web.rate") if rate is None else rate
    new = NewKey(name, known, allowed, _sources(sources), None if lasts is None else to_us(lasts), made_by)
    prefix = f"thr_{secrets.token_hex(6)}"
    token = f"{prefix}_{secrets.token_urlsafe(32)}"
    made = keys.add_key(store, new, prefix, _digest(token))
    if made is None:
        raise NotAllowed(
            f"a key named {name!r} is in use; choose another name, or revoke it first: thresher keys "
            f"revoke {shlex.quote(name)}"
        )
    return Made(token, made)


def _check_name(name: str) -> None:
    if not name or len(name) > MAX_NAME or not name.isprintable() or name != name.strip():
        raise UsageError(
            f"a key's name must have 1 to {MAX_NAME} visible characters and no space at either end; "
            f"got {name[:MAX_NAME]!r}"
        )


def _sources(given: Collection[str] | None) -> list[str] | None:
    """The platforms as they are compared: in small letters, each once. None, and an empty list, allow all."""
    if not given:
        return None
    found = list(dict.fromkeys(each.strip().lower() for each in given))
    if len(found) > MAX_SOURCES or not all(map(_is_source, found)):
        raise UsageError(
            f"a key may have at most {MAX_SOURCES} sources, each the name of a platform without "
            f"spaces, such as --source dice; got {', '.join(found)[:MAX_NAME]!r}"
        )
    return found


def _is_source(text: str) -> bool:
    return 0 < len(text) <= MAX_SOURCE and text.isprintable() and " " not in text


def _check(lasts: float | None, rate: int | None) -> None:
    if lasts is not None and not 0 < lasts <= MAX_SECONDS:
        raise UsageError(
            "a key's lifetime must be more than 0 and at most 100 years; without --expires it lasts "
            "until it is revoked"
        )
    if rate is not None and not 1 <= rate <= MAX_RATE:
        raise UsageError(f"a key's rate must be 1 to {MAX_RATE:,} requests per minute, got {rate}")


def revoke_key(store: Store, which: str, by: str | None = None) -> Key:
    """Let a key open nothing from now on, in any process. A name goes before an id."""
    return _by_name(which, partial(keys.revoke_key, store, by=by))


def revoke_key_id(store: Store, key_id: int, by: str | None = None) -> Key:
    """The same for the key of this id, whatever names there are."""
    return _by_id(key_id, partial(keys.revoke_key, store, by=by))


def switch_key(store: Store, which: str, *, active: bool, by: str | None = None) -> Key:
    """Switch a key off or on, for every process at once. A name goes before an id."""
    return _by_name(which, partial(keys.switch_key, store, active=active, by=by))


def switch_key_id(store: Store, key_id: int, *, active: bool, by: str | None = None) -> Key:
    """The same for the key of this id, whatever names there are."""
    return _by_id(key_id, partial(keys.switch_key, store, active=active, by=by))


def _by_name(which: str, change: Callable[..., Key | None]) -> Key:
    found = change(name=which)
    if found is None and which.isascii() and which.isdecimal() and len(which) <= MAX_DIGITS:
        found = change(key_id=int(which))
    if found is None:
        raise UnknownName(f"no key named {which!r} is in use; thresher keys list shows them")
    return found


def _by_id(key_id: int, change: Callable[..., Key | None]) -> Key:
    found = change(key_id=key_id)
    if found is None:
        raise UnknownName(f"no key with the id {key_id} is in use; thresher keys list shows them")
    return found


def admit(store: Store, token: str | None) -> Admitted | Denied:
    """Whether a token is valid now; an accepted request is counted. Who is refused writes
    nothing.
    """
    if token is None:
        return Denied(
            "API key required: send one as Authorization: Bearer KEY (to create one: thresher keys create NAME)"
        )
    key, now = _holder(store, token)
    if key is None:
        return Denied("invalid or expired API key; thresher keys list shows the valid ones")
    refused = _refused(key, now)
    if refused is None and not keys.charge(store, key):
        refused = _second_look(store, key)
    return refused or Admitted(key.id, key.name, key.scopes, key.sources)


def _holder(store: Store, token: str) -> tuple[Key | None, int]:
    """The key that a token is, and what time it is. Where the prefix leads to nobody the comparison is made
    all the same.
    """
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None, 0
    with store.read(autocommit=True) as session:
        key, now = keys.key_with(session, f"thr_{match[1]}"), store.backend.now(session)
    same = hmac.compare_digest(_digest(token), key.digest if key else _NOBODY)
    return (key if same else None), now


def _refused(key: Key, now: int) -> Denied | None:
    state = key.state(now)
    if state == "disabled":
        return Denied(
            f"invalid or expired API key: {key.name} is disabled; an administrator can enable it: thresher keys "
            f"enable {shlex.quote(key.name)}"
        )
    if state != "live":
        return Denied(
            f"invalid or expired API key: {key.name} is {state}; create another: thresher keys create NAME"
        )
    if wait := key.wait_us(now):
        return Denied(
            f"the key {key.name} may make {key.rate:,} requests per minute; wait", max(1, -(-wait // SECOND))
        )
    return None


def _second_look(store: Store, key: Key) -> Denied:
    """Read the key again: it was used up or revoked since the first read."""
    with store.read(autocommit=True) as session:
        found = keys.key_with(session, key.prefix) or key
        return _refused(found, store.backend.now(session)) or Denied(
            f"the key {key.name} is busy; try again", 1
        )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class KeyView:
    """One key. `prefix` is the beginning of what its owner holds; `state` is live, disabled, expired
    or revoked; `is_active` is False once it was disabled or revoked; `sources` None is all.
    """

    id: int
    name: str
    prefix: str
    scopes: tuple[str, ...]
    sources: tuple[str, ...] | None
    state: str
    is_active: bool
    rate: int
    used: int
    created_at: int
    used_at: int | None
    expires_at: int | None
    revoked_at: int | None
    made_by: str | None


def list_keys(
    store: Store, *, every: bool = False, before: int | None = None, limit: int = 1_000
) -> list[KeyView]:
    """Keys that open something or would if enabled, newest first; with `every` also those that did."""
    with store.read() as session:
        now = store.backend.now(session)
        found = keys.list_keys(session, lives_at=None if every else now, before=before, limit=limit)
    return [key_view(key, now) for key in found]


def has_keys(store: Store) -> bool:
    """Whether anybody could come in."""
    with store.read() as session:
        return keys.live_keys(session, store.backend.now(session)) > 0


def key_view(key: Key, now: int) -> KeyView:
    """A key as a line of a list."""
    return KeyView(
        key.id,
        key.name,
        key.prefix,
        key.scopes,
        key.sources,
        key.state(now),
        key.disabled_at is None and key.revoked_at is None,
        key.rate,
        key.used,
        key.created_at,
        key.used_at,
        key.expires_at,
        key.revoked_at,
        key.made_by,
    )


def made_view(key: Key, token: str) -> Annotated[Fields, MadeKey]:
    """A new key as its maker sees it, this once: `key` is what its owner sends."""
    said = asdict(key_view(key, key.created_at))
    return {"id": said.pop("id"), "name": said.pop("name"), "key": token, **said}
