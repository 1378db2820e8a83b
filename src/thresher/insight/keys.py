"""Keys of the API as a person sees them: whose they are, what they open, until when, and whether anybody uses
them.
"""

from dataclasses import asdict, dataclass
from typing import Any

from thresher.store import keys
from thresher.store.keys import Key
from thresher.store.store import Store


@dataclass(frozen=True, slots=True)
class KeyView:
    """One key. `prefix` is the beginning of what its owner holds; `state` is live, expired or revoked;
    `sources` None is all.
    """

    id: int
    name: str
    prefix: str
    scopes: tuple[str, ...]
    sources: tuple[str, ...] | None
    state: str
    rate: int
    used: int
    created_at: int
    used_at: int | None
    expires_at: int | None
    revoked_at: int | None
    made_by: str | None


def list_keys(store: Store, *, every: bool = False) -> list[KeyView]:
    """Keys that open something; with `every` also those that did."""
    with store.read() as session:
        now = store.backend.now(session)
        found = [key_view(key, now) for key in keys.list_keys(session)]
    return [each for each in found if every or each.state == "live"]


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
        key.rate,
        key.used,
        key.created_at,
        key.used_at,
        key.expires_at,
        key.revoked_at,
        key.made_by,
    )


def made_view(key: Key, token: str) -> dict[str, Any]:
    """A new key as its maker sees it, this once: `key` is what its owner sends."""
    said = asdict(key_view(key, key.created_at))
    return {"id": said.pop("id"), "name": said.pop("name"), "key": token, **said}
