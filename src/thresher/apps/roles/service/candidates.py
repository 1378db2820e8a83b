"""Candidates: add, change, delete, list and show them, with the roles they want and the matching that
follows.

Titles are resolved before the transaction, because that may take a while, and checked again inside it,
because roles may have been merged meanwhile. What a person arranged by hand stays: only the roles of a
removed title are removed with it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from thresher.admin.records import find, one
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.model import ASKS, CANDIDATE, WANTS, Candidate, CandidateRecord, WantedTitle
from thresher.apps.roles.service.intake import By, Given, person_name_key
from thresher.apps.roles.service.resolve import Resolution, resolve
from thresher.apps.roles.store.people import bearers, count_matches, erase_candidate, standing, there
from thresher.apps.roles.store.roles import link_candidates, lock_names, roles_of_keys, unlink_candidate
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.record import Found, Link, Record, clean, pack
from thresher.core.stored import read
from thresher.core.task import Entry, NewTask
from thresher.engine.registry import Registry
from thresher.store.records import file_record, find_record, find_records, remove_links
from thresher.store.session import Dialect, Session
from thresher.store.store import Store, Transaction
from thresher.store.transaction import in_transaction

# Identity of a candidate: the given id, else the email address, else the name.

EMAIL, NAME = "email", "name_key"
MARKS = (NAME, EMAIL)  # what a candidate is found by
MAX_TOLD = 20


def recognize(
    dialect: Dialect, session: Session, given: Sequence[Given], ours: Collection[str] = ()
) -> list[Given]:
    """The same candidates, each under the key by which it is known here. Raises `NotAllowed` if one may be
    somebody else.

    `ours` are keys that came along with these: whoever lists two namesakes side by side means two people.
    """
    owners = bearers(dialect, session, EMAIL, {word for each in given for word in _addresses(each)})
    namesakes = _namesakes(
        dialect, session, [each for each in given if each.by is not By.ID and each.email not in owners]
    )
    problems = [
        why
        for each in given
        if (why := _problem(each, owners, namesakes.get(each.key, each.key), ours)) is not None
    ]
    if problems:
        more = f"; and {len(problems) - MAX_TOLD:,} more" if len(problems) > MAX_TOLD else ""
        raise NotAllowed(f"{'; '.join(problems[:MAX_TOLD])}{more}. Nothing was added.")
    found = [
        each.under(owners[each.email]) if each.by is By.EMAIL and each.email in owners else each
        for each in given
    ]
    check_once(found)
    return found


def _namesakes(dialect: Dialect, session: Session, given: Sequence[Given]) -> dict[str, str]:
    """Of those who are new, who of the same name is known: by nothing but that name, or, where these have no
    more than it, at all.
    """
    names = {each.key: person_name_key(each.candidate.name) for each in given}
    known = there(dialect, session, {*names, *names.values()})
    new = [each for each in given if each.key not in known]
    others = bearers(dialect, session, NAME, {each.key for each in new if each.by is By.NAME})
    return others | {each.key: names[each.key] for each in new if names[each.key] in known}


def check_once(given: Sequence[Given]) -> None:
    """Raise `UsageError` if two of these are the same: it is unclear which one is meant."""
    seen: set[str] = set()
    for each in given:
        words = {each.key, each.email or each.key}
        if words & seen:
            who = each.key if each.key in seen else each.email
            raise UsageError(
                f"the candidate {who!r} appears twice; give each its own id or email. Nothing was added."
            )
        seen |= words


def _addresses(given: Given) -> set[str]:
    """What this candidate says is its address. An id may be one, too."""
    return {word for word in (given.email, given.key.casefold()) if word and "@" in word}


def _problem(given: Given, owners: Mapping[str, str], namesake: str, ours: Collection[str]) -> str | None:
    """Why it cannot be said who this is."""
    if given.by is By.ID:
        other = next(
            (
                (word, owners[word])
                for word in sorted(_addresses(given))
                if owners.get(word, given.key) != given.key
            ),
            None,
        )
        if other is not None:
            word, key = other
            return (
                f"{word!r} is the email of the candidate {key!r}, not of {given.key!r}; use the id "
                f"{key!r} to change it, or remove it first"
            )
    if namesake != given.key and namesake not in ours:
        return (
            f"a candidate named {given.candidate.name!r} already has the id {namesake!r}; give that id "
            "if it is the same person, otherwise another id"
        )
    return None


BATCH = 1_000
AT_ONCE = 500  # candidates of one matching
MATCH, NORMALIZE = "match_candidates", "normalize"
WAITING = "waiting"
APP = "roles"
BY_A_PERSON = 0
SHOWN_BY = "thresher candidates list"


class Taken(StrEnum):
    """What became of a candidate that came in."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A title of a candidate that came in, and the role that it was understood as: None while a model is
    asked, or where it says nothing. `created`: the role was made for it.
    """

    title: str
    key: str
    role: str | None
    role_id: int | None
    similarity: float | None
    method: str
    reason: str
    created: bool = False


@dataclass(frozen=True, slots=True)
class Admission:
    """One candidate that came in, and what its titles were understood as."""

    key: str
    name: str
    answer: Taken
    roles: tuple[Wanted, ...]


@dataclass(frozen=True, slots=True)
class Gone:
    """A candidate that was removed, and what went with it."""

    key: str
    name: str
    roles: int
    matches: int


def add_candidates(store: Store, registry: Registry, given: Sequence[Given]) -> list[Admission]:
    """Write these candidates down, link them to the roles that they want, and have them matched. One that is
    known is replaced.
    """
    check_once(given)
    admit(registry, NewTask(MATCH, {"candidates": []}))  # before anything is written
    if len(given) > BATCH:  # what is wrong with the last is said before the first is written
        with store.read() as session:
            recognize(store.backend.dialect, session, given)
    done: dict[str, Admission] = {}
    for at in range(0, len(given), BATCH):
        done |= {each.key: each for each in _take(store, registry, given[at : at + BATCH], frozenset(done))}
    return list(done.values())


def admit(registry: Registry, new: NewTask) -> Entry:
    """A task of this app, if the project has it."""
    if registry.pipeline(new.kind) is None:
        raise UnknownName(
            f"no app of this project knows tasks of kind {new.kind!r}; add the roles app to "
            f"thresher.yaml: apps: [{APP}]"
        )
    return registry.admit(new)


def matchings(registry: Registry, record_ids: Iterable[int]) -> list[Entry]:
    """The tasks that match these candidates with the postings of their roles."""
    ids = sorted(set(record_ids))
    return [
        admit(registry, NewTask(MATCH, {"candidates": ids[at : at + AT_ONCE]}))
        for at in range(0, len(ids), AT_ONCE)
    ]


def remove_candidates(store: Store, keys: Sequence[str]) -> list[Gone]:
    """Remove candidates, all or none: records, links and matches. The roles they wanted are recounted."""

    def remove(session: Session) -> list[Gone]:
        lock_names(store, session)
        return [_remove(store, session, key) for key in dict.fromkeys(keys)]

    return in_transaction(store, remove)


def _remove(store: Store, session: Session, key: str) -> Gone:
    found = find_record(session, CANDIDATE, clean(key))
    if found is None:
        raise UnknownName(f"there is no candidate {key!r}; {SHOWN_BY} shows them. Nothing was removed.")
    now = store.backend.now(session)
    unlink_candidate(session, found.id, None, now, Demand.of(store.settings))
    matches = erase_candidate(session, found.id, now)
    return Gone(found.key, Candidate.of(found).name or found.key, len(found.linked(WANTS)), matches)


class _Moved(Exception):
    """Something that was understood before the transaction no longer holds inside it."""


def _take(store: Store, registry: Registry, given: Sequence[Given], ours: Collection[str]) -> list[Admission]:
    models = registry.tier("cheap") is not None and registry.pipeline(NORMALIZE) is not None
    while True:
        with store.read() as session:
            people = recognize(store.backend.dialect, session, given, ours)
            known = _records(_known(session, people))
        titles = list(dict.fromkeys(title for each in people for title in _open_titles(each, known)))
        understood = dict(zip(titles, resolve(store, titles, create=True, models=models), strict=True))
        batch = _Batch(
            store,
            registry,
            lambda session: recognize(store.backend.dialect, session, given, ours),
            people,
            understood,
        )
        try:
            taken = in_transaction(store, batch.write)
        except _Moved:
            continue  # somebody was faster; now that is what holds
        store.backend.ping()
        return taken


def _known(session: Session, given: Sequence[Given]) -> dict[str, Found]:
    keys = [each.key for each in given]
    return {found.key: found for found in find_records(session, kind=CANDIDATE, keys=keys, limit=len(keys))}


def _records(known: Mapping[str, Found]) -> dict[str, CandidateRecord]:
    return {key: CandidateRecord.of(found) for key, found in known.items()}


def _open_titles(given: Given, known: Mapping[str, CandidateRecord]) -> list[str]:
    """Return the titles that are not resolved yet. Resolved titles keep their role, because it may have been
    arranged manually.
    """
    settled = _settled(known.get(given.key))
    return [title for title in given.candidate.role_titles if title not in settled]


def _settled(known: CandidateRecord | None) -> dict[str, WantedTitle]:
    return {each.title: each for each in known.titles if each.role_id is not None} if known else {}


class _Batch:
    """One transaction's worth of candidates."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        recognized: Callable[[Session], list[Given]],
        given: Sequence[Given],
        understood: Mapping[str, Resolution],
    ) -> None:
        self._store, self._registry, self._recognized, self._given, self._understood = (
            store,
            registry,
            recognized,
            given,
            understood,
        )
        self._demand = Demand.of(store.settings)
        self._limit = store.settings.count("queue.payload_limit")

    def write(self, session: Session) -> list[Admission]:
        lock_names(
            self._store, session
        )  # from here on no role is merged away, and nobody else adds candidates
        if self._recognized(session) != self._given:
            raise _Moved
        found = _known(session, self._given)
        known = _records(found)
        roles = self._roles(session, known)
        now = self._store.backend.now(session)
        plans = [_plan(each, found.get(each.key), known.get(each.key), roles) for each in self._given]
        touched = self._file(session, plans, now)
        Transaction(self._store, session).enqueue(
            [*matchings(self._registry, touched), *self._questions(plans)]
        )
        return [
            Admission(plan.given.key, plan.given.candidate.name, plan.answer, self._told(plan))
            for plan in plans
        ]

    def _told(self, plan: "_Plan") -> tuple[Wanted, ...]:
        made = {title for title in plan.opened if self._understood[title].created}
        return tuple(
            Wanted(
                each.title,
                each.key,
                each.role,
                each.role_id,
                each.similarity,
                each.method,
                each.reason,
                each.title in made,
            )
            for each in plan.record.titles
        )

    def _roles(self, session: Session, known: Mapping[str, CandidateRecord]) -> dict[str, WantedTitle]:
        """What each open title means now. A role that is gone was merged into the one that has its names."""
        titles = {title for each in self._given for title in _open_titles(each, known)}
        if not titles <= set(self._understood):
            raise _Moved
        found = {title: self._understood[title] for title in titles}
        if roles_of_keys(session, [each.key for each in found.values() if each.method == WAITING]):
            raise _Moved  # the answer has come; whoever asked for it now might ask nobody
        there = standing(session, [each.role_id for each in found.values() if each.role_id is not None])
        lost = [each.key for each in found.values() if each.role_id is not None and each.role_id not in there]
        heirs = roles_of_keys(session, lost) if lost else {}
        there |= standing(session, list(heirs.values()))
        return {title: _wanted(each, there, heirs) for title, each in found.items()}

    def _file(self, session: Session, plans: Sequence["_Plan"], now: int) -> set[int]:
        """Write records and links; the ids of those that are to be matched."""
        wants: dict[int, list[int]] = {}
        ids: dict[str, int] = {}
        for plan in sorted(plans, key=lambda plan: plan.given.key):
            ids[plan.given.key] = record_id = self._record(session, plan, now)
            for role_id in plan.gained:
                wants.setdefault(role_id, []).append(record_id)
        gained = link_candidates(session, wants, now, self._demand) if wants else []
        for plan in plans:
            if plan.dropped and plan.found:
                remove_links(
                    session, CANDIDATE, plan.found.key, [Link(ASKS, each.key) for each in plan.dropped]
                )
                lost = self._lost(session, plan)
                if lost:
                    unlink_candidate(session, plan.found.id, lost, now, self._demand)
        return {*gained, *(ids[plan.given.key] for plan in plans if plan.answer is not Taken.UNCHANGED)}

    def _record(self, session: Session, plan: "_Plan", now: int) -> int:
        links = tuple(Link(ASKS, each.key) for each in plan.record.titles if each.method == WAITING)
        data = plan.record.stored()
        if plan.found is not None and plan.found.data == data and set(links) <= set(plan.found.links):
            return plan.found.id
        record = Record(CANDIDATE, plan.given.key, data, links, marks=MARKS)
        return file_record(session, pack(record, self._limit), BY_A_PERSON, now)

    def _lost(self, session: Session, plan: "_Plan") -> list[int]:
        """The roles of titles that are gone, as far as nothing else leads to them."""
        names = roles_of_keys(session, [each.key for each in plan.dropped])
        roles = {each.role_id for each in plan.dropped} | set(names.values())
        kept = {each.role_id for each in plan.record.titles}
        linked = {int(target) for target in plan.found.linked(WANTS)} if plan.found else set()
        return sorted(role for role in roles if role is not None and role in linked and role not in kept)

    def _questions(self, plans: Sequence["_Plan"]) -> list[Entry]:
        asked = {
            each.key: each.title for plan in plans for each in plan.record.titles if each.method == WAITING
        }
        return [
            admit(self._registry, NewTask(NORMALIZE, {"title": title, "key": key}, key=key))
            for key, title in sorted(asked.items())
        ]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be done about one candidate. `opened` are titles that were understood just now, `gained`
    roles to link, `dropped` titles that it no longer has.
    """

    given: Given
    found: Found | None
    answer: Taken
    record: CandidateRecord
    opened: tuple[str, ...]
    gained: tuple[int, ...]
    dropped: tuple[WantedTitle, ...]


def _plan(
    given: Given, found: Found | None, known: CandidateRecord | None, roles: Mapping[str, WantedTitle]
) -> _Plan:
    settled, asked = _settled(known), given.candidate.role_titles
    wanted = tuple(settled.get(title) or roles[title] for title in asked)
    record = given.record(wanted, known.unknown if known else None)
    opened = tuple(title for title in asked if title not in settled)
    gained = tuple(
        {each.role_id: None for each in wanted if each.role_id is not None and each.title not in settled}
    )
    dropped = tuple(each for each in known.titles if each.title not in asked) if known else ()
    return _Plan(given, found, _answer(known, record), record, opened, gained, dropped)


def _answer(known: CandidateRecord | None, record: CandidateRecord) -> Taken:
    """How a title was understood belongs to us: it makes nobody another person."""
    if known is None:
        return Taken.NEW
    return Taken.UNCHANGED if replace(known, titles=record.titles) == record else Taken.CHANGED


def _wanted(found: Resolution, there: Mapping[int, tuple[str, str]], heirs: Mapping[str, int]) -> WantedTitle:
    role_id = found.role_id if found.role_id is None or found.role_id in there else heirs.get(found.key)
    if found.role_id is not None and role_id is None:
        raise _Moved
    name = None if role_id is None else there[role_id][0]
    return WantedTitle(found.title, found.key, name, role_id, found.similarity, found.method, found.reason)


BY_HAND = "by hand"  # the method of a role that no title of the candidate leads to

MODEL = "model"
ANSWERED = "a model was asked; to see the result: thresher tasks list --kind normalize"
# Fields of a record for internal use.
OURS = frozenset({"titles", "name_key"})


@dataclass(frozen=True, slots=True)
class CandidateView:
    """One candidate in a list. `roles` are the names of the roles that it wants; `matches` is a count."""

    key: str
    id: int
    name: str
    title: str | None
    skills: tuple[str, ...]
    experience_years: float | None
    locations: tuple[str, ...]
    remote: bool | None
    roles: tuple[str, ...]
    matches: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class WantedRole:
    """A role that a candidate wants: by which title, how that was understood, and why. Without an id: nobody
    knows it yet.
    """

    title: str | None
    role: str | None
    role_id: int | None
    status: str | None
    similarity: float | None
    method: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class CandidateDetail:
    """One candidate with everything that is known of it."""

    candidate: CandidateView
    data: dict[str, Any]
    keywords: tuple[str, ...]
    wants: list[WantedRole]
    waiting: tuple[str, ...]

    @property
    def record(self) -> CandidateRecord:
        return read(CandidateRecord, self.data, key=self.candidate.key)


def list_candidates(
    store: Store, *, role_id: int | None = None, before: str | None = None, limit: int = 50
) -> list[CandidateView]:
    """Candidates, the newest first; those after the one of the key `before`."""
    link = None if role_id is None else Link(WANTS, str(role_id))
    found = find(store, CANDIDATE, link=link, before=before, limit=limit)
    with store.read() as session:
        return _views(session, found)


def show_candidate(store: Store, key: str) -> CandidateDetail:
    """One candidate."""
    found = one(store, CANDIDATE, key, SHOWN_BY)
    with store.read() as session:
        (view,) = _views(session, [found])
        wants = _wants(session, found)
    data = {name: value for name, value in found.data.items() if name not in OURS}
    return CandidateDetail(view, data, CandidateRecord.of(found).keywords, wants, found.linked(ASKS))


def _views(session: Session, found: list[Found]) -> list[CandidateView]:
    matches = count_matches(session, [each.id for each in found])
    roles = standing(session, [role for each in found for role in _wanted_ids(each)])
    return [_view(each, roles, matches.get(each.id, 0)) for each in found]


def _view(found: Found, roles: Mapping[int, tuple[str, str]], matches: int) -> CandidateView:
    candidate = Candidate.of(found)
    names = tuple(sorted(roles[each][0] for each in _wanted_ids(found) if each in roles))
    return CandidateView(
        found.key,
        found.id,
        candidate.name or found.key,
        candidate.title or None,
        candidate.skills,
        candidate.experience_years,
        candidate.locations,
        candidate.remote,
        names,
        matches,
        found.created_at,
        found.updated_at,
    )


def _wanted_ids(found: Found) -> list[int]:
    return [int(target) for target in found.linked(WANTS)]


def _wants(session: Session, found: Found) -> list[WantedRole]:
    """The roles as they are linked now, each with the title that led to it; and the titles that have led
    nowhere yet.
    """
    linked = _wanted_ids(found)
    titles = CandidateRecord.of(found).titles
    # A role may have been merged, or named by a model, since.
    owners = roles_of_keys(session, [each.key for each in titles])
    there = standing(session, linked)
    wants, explained = [], set()
    for each in titles:
        role_id = next((one for one in (each.role_id, owners.get(each.key)) if one in linked), None)
        explained.add(role_id)
        name, status = there.get(role_id, (None, None)) if role_id is not None else (None, None)
        answered = each.method == WAITING and role_id is not None
        method, reason = (MODEL, ANSWERED) if answered else (each.method, each.reason or None)
        wants.append(WantedRole(each.title, name, role_id, status, each.similarity, method, reason))
    others = [each for each in linked if each not in explained and each in there]
    return [
        *wants,
        *(WantedRole(None, there[each][0], each, there[each][1], None, BY_HAND, None) for each in others),
    ]
