"""Group postings that are one opening, or separate them, on a person's decision. Separated postings stay
apart.

Nothing is merged, so everything can be undone: a posting is linked to its group, and to the postings it must
never be grouped with (`apart`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from thresher.admin.records import write_records
from thresher.admin.requests import TaskRequest, ask, look_up
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.record import Found, Link, Record
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.hiring.kinds import GROUP, POSTING
from thresher.hiring.records import GroupRecord, PostingRecord, group_entry, posting_entry
from thresher.hiring.same_opening import APART, GroupReason, copy_of, lead
from thresher.store.records import find_records
from thresher.store.store import Store

MAX_MEMBERS = 1_000


@dataclass(frozen=True, slots=True)
class Grouped:
    """A group as it is now. `lead` speaks for its `members`; a group without members is no more."""

    group: str
    lead: str | None
    members: list[str]


def ungroup(store: Store, registry: Registry, key: str) -> Grouped:
    """Take a posting out of its group, for good. It is judged for itself from now on."""
    posting = _posting(store, key)
    name = group_of(posting)
    if name is None:
        raise NotAllowed(f"{key} is not in a group; see: thresher postings show {key}")
    others = [each for each in _members(store, name) if each.key != key]
    keep = others if len(others) > 1 else []
    leavers = [posting, *([] if keep else others)]
    records = [
        *(posting_entry(each.key, {"group": None}) for each in leavers),
        posting_entry(key, {}, *(Link(APART, each.key) for each in others)),
        _group(name, keep, "what is left after a person took one out"),
    ]
    unlinked = {(POSTING, each.key): [Link(GROUP, name)] for each in leavers}
    write_records(store, records, unlinked | {(GROUP, name): [Link(POSTING, each.key) for each in leavers]})
    followers = (NewTask(kind, {POSTING: key}, None, key) for kind in registry.followers(POSTING))
    ask(store, registry, [TaskRequest(key, key, task) for task in followers])
    return _grouped(name, keep)


def group(store: Store, first: str, second: str) -> Grouped:
    """Put two postings, and the groups that they are in, together."""
    if first == second:
        raise UsageError("name two different postings")
    both = [_posting(store, key) for key in (first, second)]
    names = list(dict.fromkeys(name for each in both if (name := group_of(each))))
    if len(names) == 1 and all(map(group_of, both)):
        raise NotAllowed(f"{first} and {second} are already in one group")
    members = list(
        {
            each.key: each for each in [*both, *(one for name in names for one in _members(store, name))]
        }.values()
    )
    name = names[0] if names else f"group/{_lead(members)}"
    records = [posting_entry(each.key, {"group": name}, Link(GROUP, name)) for each in members]
    records += [_group(gone, [], f"it was merged into {name}") for gone in names[1:]]
    write_records(
        store, [*records, _group(name, members, str(GroupReason.SAID))], _undone(members, names[1:])
    )
    return _grouped(name, members)


def _undone(members: Sequence[Found], gone: Sequence[str]) -> dict[tuple[str, str], list[Link]]:
    """What no longer holds: that some of them are apart, and groups that became a part of another."""
    undone = {
        (POSTING, each.key): [
            *(Link(APART, one.key) for one in members),
            *(Link(GROUP, name) for name in gone),
        ]
        for each in members
    }
    return undone | {(GROUP, name): [Link(POSTING, each.key) for each in members] for name in gone}


def group_of(posting: Found) -> str | None:
    """The group that a posting is in."""
    return next(iter(posting.linked(GROUP)), None)


def _posting(store: Store, key: str) -> Found:
    found = look_up(store, POSTING, [key]).get(key)
    if found is None:
        raise UnknownName(f"there is no posting {key!r}; thresher postings list shows them")
    return found


def _members(store: Store, name: str) -> list[Found]:
    with store.read() as session:
        return find_records(session, kind=POSTING, link=Link(GROUP, name), limit=MAX_MEMBERS)


def _lead(members: Sequence[Found]) -> str:
    return lead(copy_of(PostingRecord.of(each)) for each in members).key


def _group(name: str, members: Sequence[Found], reason: str) -> Record:
    made = _grouped(name, members)
    record = GroupRecord(name, made.lead, reason, tuple(made.members))
    return group_entry(record, *(Link(POSTING, each) for each in made.members))


def _grouped(name: str, members: Sequence[Found]) -> Grouped:
    return Grouped(name, _lead(members) if members else None, sorted(each.key for each in members))
