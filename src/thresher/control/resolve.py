"""From titles to roles, many at once, each with its reason.

    exact      a role has this name: as it was written, or as its core
    alias      a role answers to it
    embedding  the nearest role is near enough, and no word speaks against it
    rules      a role was named by rules: made now, or known under the name that rules give the title
    new        the same where nothing may be made: what the role would be called
    waiting    a model will be asked (the task `normalize`); `key` is what it is asked under
    refused    the title has no word

A title is looked up twice, as it stands and as its core, and so is the name that rules give it. What was
understood becomes an alias of the role, unless it is as wide as a trade.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from thresher.control.decision import (
    ALIAS,
    EMBEDDING,
    EXACT,
    NEW,
    REFUSED,
    RULES,
    WAITING,
    Decision,
    decide,
    owned,
)
from thresher.core.errors import UsageError
from thresher.hiring.title.core import core_of
from thresher.hiring.title.key import title_key
from thresher.store.roles.resolution import Owner, owners_of
from thresher.store.store import Store
from thresher.vectors.embedder import Embedder

__all__ = ("ALIAS", "EMBEDDING", "EXACT", "NEW", "REFUSED", "RULES", "WAITING", "Resolution", "resolve")

MAX_TITLES = 100_000


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a title is taken to mean. `key` is what it is known under, and what a candidate who waits asks
    for.

    `similarity` is that of the role, or of the nearest where there is none.
    """

    title: str
    key: str
    core: str
    role_id: int | None
    role: str | None
    similarity: float | None
    method: str
    reason: str
    created: bool = False


def resolve(
    store: Store, titles: Sequence[str], *, create: bool, models: bool, embedder: Embedder | None = None
) -> list[Resolution]:
    """A resolution for each title, in their order. Without `create` nothing is changed; with `models` what
    rules would name waits.
    """
    if len(titles) > MAX_TITLES:
        raise UsageError(
            f"{len(titles):,} titles; at most {MAX_TITLES:,} are resolved at once, so send them in parts"
        )
    asked = list(dict.fromkeys(titles))
    found = dict(_known(store, asked))
    unknown = [title for title in asked if title not in found]
    if unknown:
        understood = decide(
            store, list(dict.fromkeys(map(core_of, unknown))), create=create, models=models, embedder=embedder
        )
        for title in unknown:  # a role is made once, whoever else means the same
            found[title] = _as_said(title, decision := understood[core_of(title)])
            understood[decision.core] = replace(decision, created=False)
    return [found[title] for title in titles]


def _as_said(title: str, decision: Decision) -> Resolution:
    return Resolution(
        title,
        decision.core,
        decision.core,
        decision.role_id,
        decision.role,
        decision.similarity,
        decision.method,
        decision.reason,
        decision.created,
    )


def _known(store: Store, titles: Sequence[str]) -> Iterator[tuple[str, Resolution]]:
    """Titles that a role answers to, and those that have no word."""
    keys = {title: (title_key(title), core_of(title)) for title in titles}
    with store.read() as session:
        owners = owners_of(session, [key for pair in keys.values() for key in pair if key])
    for title, (key, core) in keys.items():
        if not core:
            yield title, Resolution(title, key, core, None, None, None, REFUSED, "there is no word in it")
        elif (at := next((each for each in (key, core) if each in owners), None)) is not None:
            yield (
                title,
                _owned(title, at, core, owners[at], "as it is written" if at == key else f"as {core!r}"),
            )


def _owned(title: str, key: str, core: str, owner: Owner, how: str) -> Resolution:
    found = owned(core, owner, how)
    return replace(_as_said(title, found), key=key)
