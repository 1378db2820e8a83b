"""Candidates and roles for tests: the kinds of the roles app whose stages only end, and a few words for what
is asked most."""

from typing import Any

from thresher.apps.roles.model import CANDIDATE
from thresher.apps.roles.service.candidates import Admission, add_candidates
from thresher.apps.roles.service.intake import read_candidate
from thresher.apps.roles.store.roles import list_roles
from thresher.apps.roles.store.rows import Role, find_role
from thresher.core.app import App
from thresher.core.outcome import Done
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.record import Found
from thresher.engine.registry import Registry
from thresher.store.records import find_record
from thresher.store.store import Store


async def nothing(ctx: Any) -> Done:
    return Done()


APP = App(
    "roles",
    tuple(Pipeline(kind, Stage(nothing)) for kind in ("match_candidates", "match_postings", "normalize")),
)
REGISTRY = Registry([APP])
ASKING = Registry([APP], tiers={"cheap": "source:model"})


def add(store: Store, *people: dict[str, Any], registry: Registry = REGISTRY) -> list[Admission]:
    return add_candidates(store, registry, [read_candidate(each) for each in people])


def person(store: Store, key: str) -> Found | None:
    with store.read() as session:
        return find_record(session, CANDIDATE, key)


def there(store: Store, key: str) -> Found:
    found = person(store, key)
    assert found is not None
    return found


def role(store: Store, role_id: int) -> Role:
    with store.read() as session:
        found = find_role(session, role_id)
    assert found is not None
    return found


def roles(store: Store) -> dict[str, int]:
    """Every role by its name, and how many want it."""
    with store.read() as session:
        return {each.name: each.candidates for each in list_roles(session)}


def wanted(store: Store, key: str) -> set[str]:
    """The names of the roles that a candidate is linked to."""
    return {role(store, int(each)).name for each in there(store, key).linked("wants")}


def tasks(store: Store, kind: str) -> list[tuple[str | None, str]]:
    """The live tasks of a kind: keys and payloads."""
    with store.read() as session:
        return session.rows(
            "select dedupe_key, payload from tasks where kind = :kind and finished_at is null order by id",
            {"kind": kind},
        )


def counted(store: Store) -> dict[int, tuple[int, int]]:
    """What each role says how many want it, and how many do."""
    with store.read() as session:
        said = dict(session.rows("select id, candidates from roles"))
        linked = dict(
            session.rows(
                "select cast(target as bigint), count(*) from links where name = 'wants' group by target"
            )
        )
    return {each: (said[each], linked.get(each, 0)) for each in said} | {
        each: (-1, linked[each]) for each in linked if each not in said
    }
