"""Roles: add, import, rename, prioritise, approve, merge, split, list and show them.

A change updates every link and every count, or nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from shlex import quote

from thresher.admin.file_rows import lines_of, read_rows
from thresher.admin.records import among
from thresher.apps.hiring.postings import PostingView, posting_view
from thresher.apps.roles.demand import Demand, check_priority
from thresher.apps.roles.model import CANDIDATE, ROLE, WANTS
from thresher.apps.roles.service.candidates import matchings
from thresher.apps.roles.service.intake import SEPARATOR
from thresher.apps.roles.store import figures
from thresher.apps.roles.store import roles as table
from thresher.apps.roles.store.people import count_linked, linked_ids
from thresher.apps.roles.store.roles import merge_roles, split_role
from thresher.apps.roles.store.rows import Role, find_role
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.record import Link, clean
from thresher.engine.registry import Registry
from thresher.hiring.kinds import POSTING
from thresher.hiring.title.core import core_of, is_wide, title_key
from thresher.store.records import find_records
from thresher.store.session import Session
from thresher.store.store import Store, Transaction
from thresher.store.transaction import in_transaction

MAX_NAME = 100
MAX_ALIASES = 200
SUGGESTED = 3
LIKE_ENOUGH = 0.3
MAX_NAMES = 50_000  # that are looked through for a suggestion
LIST = "thresher roles list"


class Answer(StrEnum):
    """Whether a role was there already."""

    NEW = "new"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class RoleWish:
    """A role that somebody names."""

    name: str
    aliases: tuple[str, ...] = ()
    priority: str | None = None


@dataclass(frozen=True, slots=True)
class AddedRole:
    """A role that was asked for. `taken` are names that belong to other roles, and stay there."""

    id: int
    name: str
    answer: Answer
    status: str
    priority: str
    aliases: tuple[str, ...]
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """A role that became part of another, and what moved. `matchings` are the tasks that match what has come
    together.
    """

    id: int
    name: str
    gone: str
    candidates: int
    postings: int
    names: int
    matches: int
    matchings: int


@dataclass(frozen=True, slots=True)
class Split:
    """A role that was made out of a part of another. `matchings` are the tasks that match its candidates
    anew.
    """

    id: int
    name: str
    out_of: str
    aliases: tuple[str, ...]
    candidates: int
    matchings: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a person wants otherwise about a role. None: as it is."""

    name: str | None = None
    priority: str | None = None
    category: str | None = None
    fields: tuple[str, ...] = field(default=())


def wish(name: str, aliases: Sequence[str] = (), priority: str | None = None) -> RoleWish:
    """A role as somebody writes it down, checked."""
    if len(aliases) > MAX_ALIASES:
        raise UsageError(f"a role may have at most {MAX_ALIASES} aliases; {name[:40]!r} has {len(aliases):,}")
    checked = dict.fromkeys(checked_alias(alias) for alias in aliases if alias.strip())
    return RoleWish(checked_name(name), tuple(checked), check_priority(priority) if priority else None)


def checked_name(name: str) -> str:
    """A role's name: one line with letters in it."""
    line = " ".join(name.split())
    if not title_key(line) or len(line) > MAX_NAME or not line.isprintable():
        raise UsageError(
            f"a role's name must be one line of text, at most {MAX_NAME} characters; got {line[:60]!r}"
        )
    return line


def checked_alias(alias: str) -> str:
    """Another name of a role: no trade as a whole, or everybody of it would be taken for that one role."""
    name = checked_name(alias)
    if is_wide(core_of(name)):
        raise UsageError(f"{name!r} is too broad to be an alias of one role; be more specific")
    return name


def add_roles(store: Store, wishes: Sequence[RoleWish]) -> list[AddedRole]:
    """Have these roles, all or none. One that is known gains the other names, and the priority if one is
    said.
    """

    def add(session: Session) -> list[AddedRole]:
        table.lock_names(store, session)
        now, demand = store.backend.now(session), Demand.of(store.settings)
        return [_add(session, each, now, demand) for each in wishes]

    return in_transaction(store, add)


def _add(session: Session, wish: RoleWish, now: int, demand: Demand) -> AddedRole:
    keys = {title_key(alias): alias for alias in wish.aliases}
    key = title_key(wish.name)
    owners = table.roles_of_keys(session, [key, *keys])
    known = key in owners
    free = {each: alias for each, alias in keys.items() if each not in owners and each != key}
    if known:
        role_id = owners[key]
        for each, alias in free.items():
            table.add_alias(session, role_id, alias, each, now)
        if wish.priority:
            table.set_priority(session, role_id, wish.priority, now, demand)
    else:
        role_id = table.add_role(
            session, wish.name, key, aliases=free, priority=wish.priority or "normal", now=now, demand=demand
        )
    role = _there(session, role_id)
    taken = tuple(
        f"{keys[each]} (role {owner})" for each, owner in owners.items() if each in keys and owner != role_id
    )
    return AddedRole(
        role_id,
        role.name,
        Answer.KNOWN if known else Answer.NEW,
        role.status,
        role.priority,
        role.aliases,
        taken,
    )


def merge(store: Store, registry: Registry, source: str, into: str) -> Merged:
    """Make one role part of another: its candidates, postings, names and matches. What has come together is
    matched.
    """

    def move(session: Session) -> Merged:
        table.lock_names(store, session)
        gone, kept = meant(session, source), meant(session, into)
        if gone.id == kept.id:
            raise UsageError(f"{source!r} and {into!r} are already one role: {kept.name} ({kept.id})")
        moved = merge_roles(session, gone.id, kept.id, store.backend.now(session), Demand.of(store.settings))
        entries = (
            matchings(registry, linked_ids(session, WANTS, kept.id))
            if gone.candidates or kept.candidates
            else []
        )
        Transaction(store, session).enqueue(entries)
        return Merged(
            kept.id,
            kept.name,
            gone.name,
            moved.candidates,
            moved.postings,
            moved.names,
            moved.matches,
            len(entries),
        )

    merged = in_transaction(store, move)
    store.backend.ping()
    return merged


def split(
    store: Store, registry: Registry, role: str, name: str, aliases: Sequence[str], candidates: Sequence[str]
) -> Split:
    """Make a role of its own out of some names and some candidates of another. Postings belong to both from
    then on.
    """
    new = checked_name(name)

    def part(session: Session) -> Split:
        table.lock_names(store, session)
        old, keys = meant(session, role), [title_key(alias) for alias in aliases]
        owners = table.roles_of_keys(session, [title_key(new), *keys])
        if owners.get(title_key(new), old.id) != old.id or title_key(new) == title_key(old.name):
            raise NotAllowed(
                f"{new!r} is already a name of role {owners[title_key(new)]}; choose another, or "
                "move it first"
            )
        stray = [
            alias
            for alias, key in zip(aliases, keys, strict=True)
            if owners.get(key) != old.id or key == title_key(old.name)
        ]
        if stray:
            raise UnknownName(
                f"{old.name} has no alias {', '.join(map(repr, stray))}; it has "
                f"{', '.join(old.aliases) or 'none'}"
            )
        people = _candidates(session, old, candidates)
        demand, now = Demand.of(store.settings), store.backend.now(session)
        made = split_role(
            session,
            old.id,
            new,
            title_key(new),
            alias_keys=keys,
            candidate_ids=people,
            now=now,
            demand=demand,
        )
        found = _there(session, made)
        entries = matchings(registry, people)
        Transaction(store, session).enqueue(entries)
        return Split(made, found.name, old.name, found.aliases, found.candidates, len(entries))

    done = in_transaction(store, part)
    store.backend.ping()
    return done


def _candidates(session: Session, role: Role, keys: Sequence[str]) -> list[int]:
    wanted = list(dict.fromkeys(map(clean, keys)))
    found = (
        {each.key: each for each in find_records(session, kind=CANDIDATE, keys=wanted, limit=len(wanted))}
        if wanted
        else {}
    )
    for key in wanted:
        if key not in found:
            raise UnknownName(
                f"there is no candidate {key!r}; thresher candidates list shows them. Nothing was changed."
            )
        if str(role.id) not in found[key].linked(WANTS):
            raise NotAllowed(
                f"candidate {key!r} does not want {role.name}; thresher candidates show {quote(key)} "
                "lists the roles it wants"
            )
    return [each.id for each in found.values()]


def change(store: Store, role: str, wanted: Change) -> Role:
    """Rename a role, or give it another priority or category. Its old name stays as an alias."""
    name = checked_name(wanted.name) if wanted.name is not None else None

    def write(session: Session) -> Role:
        table.lock_names(store, session)
        found, now, demand = meant(session, role), store.backend.now(session), Demand.of(store.settings)
        if name is not None:
            _insist_free(session, found, name)
            table.rename_role(session, found.id, name, title_key(name), now)
        if wanted.priority is not None:
            table.set_priority(session, found.id, check_priority(wanted.priority), now, demand)
        if "category" in wanted.fields:
            table.set_category(session, found.id, wanted.category and checked_name(wanted.category), now)
        return _there(session, found.id)

    return in_transaction(store, write)


def approve(store: Store, names: Sequence[str]) -> list[Role]:
    """Let scrapers have roles that were proposed, or that were rejected before; all or none."""
    return _judged(store, names, ("proposed", "rejected"), approved=True)


def reject(store: Store, names: Sequence[str]) -> list[Role]:
    """Never give these roles to scrapers; all or none. Their names stay known, so that they are not proposed
    again.
    """
    return _judged(store, names, ("proposed", "pending", "processing", "completed"), approved=False)


def _judged(store: Store, names: Sequence[str], allowed: Sequence[str], *, approved: bool) -> list[Role]:
    def write(session: Session) -> list[Role]:
        found = {role.id: role for role in (meant(session, name) for name in names)}
        for role in found.values():
            if role.status not in allowed:
                word = "approved" if approved else "rejected"
                raise NotAllowed(
                    f"{role.name} is {role.status}; only a role that is {' or '.join(allowed)} can "
                    f"be {word}. Nothing was changed."
                )
        for role_id in sorted(found):
            (table.approve_role if approved else table.reject_role)(
                session, role_id, store.backend.now(session), Demand.of(store.settings)
            )
        return [_there(session, role_id) for role_id in found]

    return in_transaction(store, write)


def add_alias(store: Store, role: str, alias: str) -> Role:
    """One more name for a role."""
    name = checked_alias(alias)

    def write(session: Session) -> Role:
        table.lock_names(store, session)
        found = meant(session, role)
        _insist_free(session, found, name)
        table.add_alias(session, found.id, name, title_key(name), store.backend.now(session))
        return _there(session, found.id)

    return in_transaction(store, write)


def remove_alias(store: Store, role: str, alias: str) -> Role:
    """Take a name from a role. Whoever came by it stays."""

    def write(session: Session) -> Role:
        table.lock_names(store, session)
        found, key = meant(session, role), title_key(alias)
        if key == title_key(found.name):
            raise NotAllowed(f"{found.name} is the role's own name; to change it: thresher roles rename")
        if table.roles_of_keys(session, [key]).get(key) != found.id:
            raise UnknownName(
                f"{found.name} has no alias {alias!r}; it has {', '.join(found.aliases) or 'none'}"
            )
        table.remove_alias(session, found.id, key, store.backend.now(session))
        return _there(session, found.id)

    return in_transaction(store, write)


def _insist_free(session: Session, role: Role, name: str) -> None:
    owner = table.roles_of_keys(session, [title_key(name)]).get(title_key(name), role.id)
    if owner != role.id:
        other = _there(session, owner)
        raise NotAllowed(
            f"{name!r} is a name of {other.name} ({other.id}); merge the two, or remove it there "
            "first. Nothing was changed."
        )


def find(store: Store, text: str) -> Role:
    """The role that somebody means."""
    with store.read() as session:
        return meant(session, text)


def meant(session: Session, text: str) -> Role:
    """The role that somebody means by its id, its name or an alias; else an error with the names that come
    near.
    """
    said = text.strip()
    found = find_role(session, int(said)) if said.isascii() and said.isdecimal() and len(said) < 19 else None
    if found is not None:
        return found
    key = title_key(said)
    owner = table.roles_of_keys(session, [key]).get(key) if key else None
    if owner is not None:
        return _there(session, owner)
    near = near_names(key, ((each, name) for _, each, name in table.names_since(session, 0, MAX_NAMES)))
    advice = f"did you mean {' or '.join(map(repr, near))}?" if near else f"{LIST} shows them"
    raise UnknownName(f"there is no role {said[:60]!r}; {advice}")


def near_names(key: str, names: Iterable[tuple[str, str]]) -> list[str]:
    """The names that look most like this one, of (key, name): those that share the most runs of three letters
    with it.
    """
    wanted = _runs(key)
    likeness = (
        {name: len(wanted & (runs := _runs(each))) / len(wanted | runs) for each, name in names}
        if wanted
        else {}
    )
    best = sorted(likeness, key=lambda name: (-likeness[name], name))[:SUGGESTED]
    return [name for name in best if likeness[name] >= LIKE_ENOUGH]


def _runs(key: str) -> set[str]:
    padded = f"  {key[:MAX_NAME]} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)} if key else set()


def _there(session: Session, role_id: int) -> Role:
    found = find_role(session, role_id)
    if found is None:
        raise UnknownName(f"there is no role {role_id}; {LIST} shows them")
    return found


STATUSES = ("proposed", "pending", "processing", "completed", "rejected")


@dataclass(frozen=True, slots=True)
class RoleView:
    """One role. `postings` are those that belong to it now, `imported` those that were new when they came in
    for it.
    """

    id: int
    name: str
    status: str
    priority: str
    category: str | None
    candidates: int
    postings: int
    imported: int
    aliases: tuple[str, ...]
    method: str
    scraped_at: int | None
    waiting_since_at: int
    created_at: int


def count_by_status(store: Store) -> dict[str, int]:
    """How many roles have each status."""
    with store.read() as session:
        return {status: number for status, (number, _) in figures.status_counts(session).items()}


def list_roles(
    store: Store,
    *,
    status: str | None = None,
    text: str | None = None,
    limit: int = 50,
    after: int | None = None,
) -> list[RoleView]:
    """Roles, by their ids; those after the role `after`."""
    wanted = among(status, STATUSES, "the status of a role")
    with store.read() as session:
        return role_views(
            session, table.list_roles(session, status=wanted, text=text, limit=limit, after=after)
        )


def list_demanded(store: Store, status: str, *, limit: int = 50, after: int | None = None) -> list[RoleView]:
    """Roles of one status in the order in which scrapers are given them; those behind the role `after`."""
    wanted = among(status, STATUSES, "the status of a role") or status
    with store.read() as session:
        behind = None if after is None else _there(session, after)
        found = table.demanded_roles(
            session, wanted, limit=limit, after=None if behind is None else (behind.rank, behind.id)
        )
        return role_views(session, found)


def planned_merge(store: Store, source: str, into: str) -> tuple[RoleView, RoleView]:
    """The two roles that a merge would make one: the one that goes, and the one that stays."""
    with store.read() as session:
        gone, kept = meant(session, source), meant(session, into)
        if gone.id == kept.id:
            raise UsageError(f"{source!r} and {into!r} are already one role: {kept.name} ({kept.id})")
        first, second = role_views(session, [gone, kept])
        return first, second


def role_postings(store: Store, role_id: int, limit: int) -> list[PostingView]:
    """The newest postings of a role."""
    link = Link(ROLE, str(role_id))
    with store.read() as session:
        found = find_records(session, kind=POSTING, link=link, limit=limit)
    return [posting_view(each) for each in found]


def role_views(session: Session, found: Sequence[Role]) -> list[RoleView]:
    """Roles as they are shown."""
    postings = count_linked(session, ROLE, [each.id for each in found])
    return [_view(each, postings.get(each.id, 0)) for each in found]


def role_view(store: Store, role: Role) -> RoleView:
    """One role as it is shown."""
    with store.read() as session:
        return role_views(session, [role])[0]


def _view(role: Role, postings: int) -> RoleView:
    return RoleView(
        role.id,
        role.name,
        role.status,
        role.priority,
        role.category,
        role.candidates,
        postings,
        role.imported,
        role.aliases,
        role.method,
        role.scraped_at,
        role.waiting_since,
        role.created_at,
    )


# A file of roles: CSV with the columns name, aliases (separated by ;) and priority. Any error refuses the
# file.

COLUMNS = ("name", "aliases", "priority")


def read_roles(text: str, name: str, ignored: list[str] | None = None) -> list[RoleWish]:
    """The roles of a file, each once. Columns that a role does not have are refused; with `ignored` they are
    left out, and put there.
    """
    found = []
    words = {"alias": "aliases", "role": "name"}
    for line, cells in read_rows(lines_of(text, name), name, COLUMNS, words, ignored):
        try:
            if isinstance(cells, str):
                raise UsageError(cells)
            priority = cells.get("priority", "").strip().casefold()
            found.append(wish(cells["name"], cells.get("aliases", "").split(SEPARATOR), priority or None))
        except UsageError as problem:
            raise UsageError(f"{name}:{line}: {problem}. Nothing was added.") from None
    return found
