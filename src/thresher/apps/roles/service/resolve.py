"""Resolve titles to roles, many at once, each with the method.

    exact      a role has this name: as it was written, or as its core
    alias      the title is an alias of the role
    embedding  the nearest role is near enough, and no word contradicts it
    rules      a role was named by rules: created now, or known under the name that rules give the title
    new        the same where nothing may be created: what the role would be called
    waiting    a model will be asked (the task `normalize`); `key` is the key of that question
    refused    the title has no word

A title is looked up twice, as written and as its core, and so is the name that rules give it. A resolved
title becomes an alias of the role, unless it is too general.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.nearness import nearness_of
from thresher.apps.roles.role_names import RoleNames, role_names
from thresher.apps.roles.store.resolution import REJECTED, Owner, make_role, own_names, owners_of
from thresher.apps.roles.store.roles import add_alias, lock_names
from thresher.core.errors import UnknownName, UsageError
from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of, is_wide, title_key
from thresher.hiring.title.guard import apart, shelf_of
from thresher.hiring.title.likeness import LOOKED_AT, Choice, Nearness, choose
from thresher.hiring.title.name import canonical_name, written
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction
from thresher.vectors.embedder import Embedder
from thresher.vectors.matrix import cosine

# An unknown title: the nearest role, a model's answer, or a new role named by rules.

EXACT, ALIAS, EMBEDDING, RULES, NEW, WAITING, REFUSED = (
    "exact",
    "alias",
    "embedding",
    "rules",
    "new",
    "waiting",
    "refused",
)
CHUNK = 256  # cores that are decided together
NOBODY = 0  # the id of a role that would be made


@dataclass(frozen=True, slots=True)
class Decision:
    """What a core is taken to mean, and why. The fields are those of a resolution."""

    core: str
    role_id: int | None
    role: str | None
    similarity: float | None
    method: str
    reason: str
    created: bool = False


def decide(
    store: Store, cores: Sequence[str], *, create: bool, models: bool, embedder: Embedder | None = None
) -> dict[str, Decision]:
    """A decision for each core. With `create` roles and aliases are made."""
    names = role_names(store, embedder)
    found: dict[str, Decision] = {}
    for start in range(0, len(cores), CHUNK):
        case = _Case.of(names, cores[start : start + CHUNK])
        found |= (
            in_transaction(store, _Making(store, case, models=models).settle)
            if create
            else _dry(store, case, models=models)
        )
    return found


def owned(core: str, owner: Owner, how: str) -> Decision:
    """What follows where a role answers to a title. Who wants one that was rejected is linked too: it may be
    approved some day.
    """
    but = _rejected(owner)
    if owner.own:
        return Decision(core, owner.id, owner.name, 1.0, EXACT, f"it is the name of a role, {how}{but}")
    return Decision(
        core, owner.id, owner.name, 1.0, ALIAS, f"it is another name of the role {owner.name!r}, {how}{but}"
    )


def _rejected(owner: Owner) -> str:
    return "; the role was rejected, so it is not searched" if owner.status == REJECTED else ""


@dataclass(frozen=True, slots=True)
class _Case:
    """Cores, what rules would call them, and the points and neighbours of both. `last` is the newest role
    that was looked at.
    """

    names: RoleNames
    cores: Sequence[str]
    called: Mapping[str, str]
    points: Mapping[str, Sequence[float]]
    near: Mapping[str, list[Neighbour]]
    last: int

    @classmethod
    def of(cls, names: RoleNames, cores: Sequence[str]) -> "_Case":
        last = names.refresh()
        called = {core: canonical_name(core) for core in cores}
        texts = list(dict.fromkeys([*cores, *map(core_of, called.values())]))
        matrix = names.points(texts)
        near = dict(zip(texts, names.near(matrix, LOOKED_AT), strict=True))
        return cls(names, cores, called, {text: matrix[row] for row, text in enumerate(texts)}, near, last)


def _dry(store: Store, case: _Case, *, models: bool) -> dict[str, Decision]:
    with store.read() as session:
        return _Asking(case, nearness_of(store.settings), models=models).settle(session)


class _Fresh:
    """Roles that came after the neighbours were found, made here or by others. They may be many, so they
    stand on shelves.
    """

    def __init__(self) -> None:
        self._shelves: dict[object, list[tuple[str, int, str, Sequence[float]]]] = {}

    def put(self, core: str, role_id: int, name: str, point: Sequence[float]) -> None:
        for shelf in (shelf_of(core), core.replace(" ", "")):
            self._shelves.setdefault(shelf, []).append((core, role_id, name, point))

    def drop(self, role_id: int) -> None:
        self._shelves = {
            shelf: [each for each in some if each[1] != role_id] for shelf, some in self._shelves.items()
        }

    def near(self, core: str, point: Sequence[float], *, meaning: bool) -> list[Neighbour]:
        """Those that may be meant. The words are asked first: they cost less than the points."""
        found = {
            each[:3]: each[3]
            for shelf in (shelf_of(core), core.replace(" ", ""))
            for each in self._shelves.get(shelf, ())
        }
        return [
            Neighbour(role_id, name, cosine(point, other), meaning)
            for (known, role_id, name), other in found.items()
            if apart(core, known, meaning=meaning) is None
        ]


class _Asking:
    """Decides, and makes nothing: what would happen."""

    created, unmade = False, NEW

    def __init__(self, case: _Case, least: Nearness, *, models: bool) -> None:
        self._case, self._least, self._models = case, least, models
        self._fresh = _Fresh()
        self._owners: dict[str, Owner] = {}

    def settle(self, session: Session) -> dict[str, Decision]:
        """A decision for each core, in their order: a role that one of them makes is there for the next."""
        case = self._case
        self._fresh = _Fresh()
        near = {title_key(each.name) for some in case.near.values() for each in some}
        self._owners = owners_of(session, [*case.cores, *map(title_key, case.called.values()), *near])
        self._meet(own_names(session, case.last))
        return {core: self._decided(session, core) for core in case.cores}

    def _decided(self, session: Session, core: str) -> Decision:
        if core in self._owners:
            return owned(core, self._owners[core], f"as {core!r}")
        first = self._chosen(core)
        while first.role is not None:
            if (found := self._joined(session, core, first.role, first.reason)) is not None:
                return found
            first = self._chosen(core)
        if self._models and not is_wide(core):
            return Decision(
                core, None, None, _score(first), WAITING, f"{first.reason}; a model is asked for its name"
            )
        return self._named(session, core, first)

    def _named(self, session: Session, core: str, first: Choice) -> Decision:
        """By the name that rules give it: known, or new."""
        name = self._case.called[core]
        if core_of(name) != core and self._is_taken(name):
            name = written(core.split())  # what was cut tells it from the role that has the short name
        owner = self._owners.get(title_key(name))
        if owner is not None and self._answers(session, owner.id, core):
            return Decision(
                core,
                owner.id or None,
                owner.name,
                _score(first),
                self.unmade if not owner.id else RULES,
                f"{first.reason}; by rules it is called {name!r}, which is a role{_rejected(owner)}",
            )
        role_id = self._make(session, name, core)
        self._meet([(role_id, title_key(name), name)])
        self._owners[title_key(name)] = Owner(role_id, name, "pending", own=True)
        self._owners.setdefault(core, Owner(role_id, name, "pending", own=False))
        return Decision(
            core,
            role_id or None,
            name,
            _score(first),
            RULES if role_id else NEW,
            first.reason,
            created=bool(role_id),
        )

    def _is_taken(self, name: str) -> bool:
        """Whether a name is that of a known role, or means one."""
        return title_key(name) in self._owners or self._chosen(core_of(name)).role is not None

    def _chosen(self, core: str) -> Choice:
        case = self._case
        fresh = self._fresh.near(core, case.points[core], meaning=case.names.embedder.meaning)
        near = sorted([*self._standing(case.near[core]), *fresh], key=lambda each: (-each.score, each.id))
        return choose(core, near, self._least)

    def _standing(self, near: Sequence[Neighbour]) -> list[Neighbour]:
        """Neighbours as they are now: one that was merged is the role that has its name, one that was
        rejected is none.
        """
        now = [(each, self._owners.get(title_key(each.name))) for each in near]
        return [
            Neighbour(owner.id, each.name, each.score, each.meaning)
            for each, owner in now
            if owner is not None and owner.status != REJECTED
        ]

    def _joined(self, session: Session, core: str, role: Neighbour, reason: str) -> Decision | None:
        """This core belongs to that role; None if the role is gone by now, and then it is forgotten."""
        owner = self._owners.get(title_key(role.name))
        name = owner.name if owner else role.name
        if self._answers(session, role.id, core):
            self._owners.setdefault(core, Owner(role.id, name, "pending", own=False))
            return Decision(core, role.id or None, name, role.score, EMBEDDING if role.id else NEW, reason)
        self._owners.pop(title_key(role.name), None)
        self._fresh.drop(role.id)
        return None

    def _meet(self, roles: Sequence[tuple[int, str, str]]) -> None:
        for role_id, _, name in roles:
            core = core_of(name)
            point = self._case.points.get(core)
            self._fresh.put(
                core, role_id, name, self._case.names.points([core])[0] if point is None else point
            )

    def _answers(self, session: Session, role_id: int, core: str) -> bool:
        """Let a role answer to a core; False if there is no such role."""
        del session, role_id, core
        return True

    def _make(self, session: Session, name: str, core: str) -> int:
        """Make a role of this name that answers to the core; its id."""
        del session, name, core
        return NOBODY


class _Making(_Asking):
    """The same, and roles and aliases are made."""

    def __init__(self, store: Store, case: _Case, *, models: bool) -> None:
        super().__init__(case, nearness_of(store.settings), models=models)
        self._store = store
        demand = asdict(Demand.of(store.settings))
        self._how: dict[str, Any] = {
            "method": RULES,
            "approved": not store.settings["roles.approval"],
            "demand": demand,
        }
        self._now = 0

    def settle(self, session: Session) -> dict[str, Decision]:
        lock_names(self._store, session)
        self._now = self._store.backend.now(session)
        return super().settle(session)

    def _answers(self, session: Session, role_id: int, core: str) -> bool:
        if is_wide(core):
            return True  # such a name would swallow whoever comes with it
        try:
            add_alias(session, role_id, written(core.split()), core, self._now)
        except UnknownName:
            return False
        return True

    def _make(self, session: Session, name: str, core: str) -> int:
        aliases = {} if is_wide(core) or core == title_key(name) else {core: written(core.split())}
        return make_role(session, name, title_key(name), aliases, self._how, self._now)


def _score(choice: Choice) -> float | None:
    return choice.nearest.score if choice.nearest else None


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
            f"{len(titles):,} titles were sent; the limit is {MAX_TITLES:,}, so send them in parts"
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
