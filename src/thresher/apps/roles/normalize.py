"""The `normalize` pipeline: ask a model for the role name of a title, once for all who wait for it.

    begin    note since when it waits
    name     the nearest role, a model's name, or the name that rules give; the title becomes an alias
    compare  merge with a similar role that was created meanwhile for another title; the older one stays
    gather   candidates who waited for the answer get the role, in batches, and are matched

Nobody waits indefinitely: where no model can be asked for too long, or its answer is unusable, rules name the
role.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from thresher.apps.roles.demand import SETTINGS, Demand
from thresher.apps.roles.model import ASKS, CANDIDATE, WANTS
from thresher.apps.roles.nearness import SETTINGS as NEARNESS
from thresher.apps.roles.nearness import nearness_of
from thresher.core.clock import HOUR
from thresher.core.context import Context
from thresher.core.errors import BudgetExhausted, NotYet, Permanent, Transient, UsageError
from thresher.core.outcome import Done, Effect, Failed, Next, Outcome, Skipped, Snooze
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.record import Link, clean
from thresher.core.schema import Field, Schema
from thresher.core.task import NewTask
from thresher.hiring.title.core import MAX_LENGTH, core_of, is_wide, title_key
from thresher.hiring.title.guard import keeps_tools
from thresher.hiring.title.likeness import LOOKED_AT, Nearness, choose
from thresher.hiring.title.name import canonical_name, proposed_name, written

KIND, MATCH = "normalize", "match_candidates"
PROMPT, TIER = "role_name", "cheap"
PORTION = 500  # candidates that are linked together, and matched by one task
LOOK_AGAIN = 300.0  # seconds until a closed model is looked at again
TRIES = 2  # failures of a model after which rules have to do
MAX_CATEGORY = 60
SCHEMA = Schema(
    "role_name",
    (
        Field("name", says="The name of the role, in two or three words.", required=True, judged=True),
        Field("category", says="The field of work, in one or two words.", judged=True),
    ),
)


@dataclass(frozen=True, slots=True)
class _Named:
    """What a title is called, by whom, and why. `role` is the id of one that is known."""

    name: str
    method: str
    reason: str
    role: int | None = None
    category: str | None = None


async def begin(ctx: Context) -> Outcome:
    """Note since when the title waits."""
    title = ctx.task.payload.get("title")
    if not isinstance(title, str):
        return Failed(f'a {KIND} task needs a title: {{"title": "Java Developer"}}')
    # Who waits is linked to the key of the question, also where a later release would read another core.
    key = ctx.task.payload.get("key")
    core = key if isinstance(key, str) and key else core_of(title)
    if not core:
        return Skipped(f"there is no word in {title[:MAX_LENGTH]!r}")
    return Next({"key": core, "since": ctx.now()})


async def name(ctx: Context) -> Outcome:
    """Find the role, or a name for it."""
    core = str(ctx.task.checkpoint["key"])
    first = choose(core, await ctx.near("role", core, LOOKED_AT), _nearness(ctx))
    if first.role is not None:
        return _settled(ctx, core, _Named(first.role.name, "embedding", first.reason, first.role.id))
    named = _by_rules(core, "it is too broad for a role") if is_wide(core) else await _asked(ctx, core)
    if isinstance(named, Snooze):
        return named
    second = choose(core_of(named.name), await ctx.near("role", named.name, LOOKED_AT), _nearness(ctx))
    if second.role is not None and named.method == "rules" and core_of(named.name) != core:
        # What rules cut off tells it from the role that has the short name.
        named = _Named(written(core.split()), named.method, named.reason)
    elif second.role is not None:
        named = _Named(second.role.name, named.method, f"{named.reason}; {second.reason}", second.role.id)
    return _settled(ctx, core, named)


async def compare(ctx: Context) -> Outcome:
    """Two titles that are asked about at the same time do not see each other's roles; once both are there,
    the newer one does.
    """
    said = ctx.task.checkpoint
    near = await ctx.near("role", str(said["name"]), LOOKED_AT)
    own = next((each for each in near if title_key(each.name) == title_key(str(said["name"]))), None)
    if not said.get("made") or own is None:
        return Next(said)
    older = choose(core_of(own.name), [each for each in near if each.id < own.id], _nearness(ctx))
    if older.role is None:
        return Next(said)
    moved = [each.id for each in await ctx.records(CANDIDATE, link=Link(WANTS, str(own.id)), limit=PORTION)]
    join = {
        "role": own.id,
        "name_key": title_key(own.name),
        "into": older.role.id,
        "into_key": title_key(older.role.name),
        "demand": _demand(ctx),
    }
    then = {**said, "name": older.role.name, "reason": f"{said['reason']}; {older.reason}"[:500]}
    return Next(
        then,
        effects=(Effect("titles.join", join),),
        children=(NewTask(MATCH, {"candidates": moved}),) if moved else (),
    )


async def gather(ctx: Context) -> Outcome:
    """Link everyone who waited to the role. Repeat until no one is left."""
    said = ctx.task.checkpoint
    key = str(said["key"])
    waiting = [each.id for each in await ctx.records(CANDIDATE, link=Link(ASKS, key), limit=PORTION)]
    if not waiting:
        return Done(
            f"{key!r} is {said['name']!r} ({said['method']}: {said['reason']}); {said['linked']} candidates waited for it"
        )
    if waiting == said.get("last"):
        return Failed(
            f"candidates who wait for {key!r} cannot be linked: no role has this name; add one: "
            "thresher roles add"
        )
    link = Effect("titles.link", {"key": key, "candidates": waiting, "demand": _demand(ctx)})
    then = {**said, "linked": said["linked"] + len(waiting), "last": waiting}
    return Next(then, again=True, effects=(link,), children=(NewTask(MATCH, {"candidates": waiting}),))


async def _asked(ctx: Context, core: str) -> _Named | Snooze:
    """What a model calls it. Rules do where it does not answer in time, or with no name."""
    try:
        if not await ctx.can_ask(TIER):
            return _patient(ctx, core, "no model can be asked now")
        near = [each.name for each in await ctx.near("role", core, LOOKED_AT)]
        title = clean(" ".join(str(ctx.task.payload["title"]).split())[:MAX_LENGTH])
        answer = await ctx.ask(PROMPT, SCHEMA, {"title": title, "known_roles": near}, tier=TIER)
    except (BudgetExhausted, NotYet) as problem:
        return _patient(ctx, core, str(problem))
    except Transient as problem:
        if ctx.task.failures < TRIES:
            raise
        return _by_rules(core, f"the model failed: {problem}")
    except (Permanent, UsageError) as problem:
        return _by_rules(core, f"the model has no answer: {problem}")
    return _checked(core, answer.value)


def _checked(core: str, value: Any) -> _Named:
    said = value if isinstance(value, Mapping) else {}
    name = proposed_name(str(said.get("name") or ""))
    if name is None or is_wide(core_of(name)) or not keeps_tools(core, core_of(name)):
        return _by_rules(core, f"the model's name is not usable: {str(said.get('name'))[:100]!r}")
    category = said.get("category")
    kept = clean(" ".join(category.split()))[:MAX_CATEGORY] if isinstance(category, str) else None
    return _Named(name, "model", f"a model calls it {name!r}", category=kept or None)


def _patient(ctx: Context, core: str, why: str) -> _Named | Snooze:
    waited = ctx.now() - int(ctx.task.checkpoint["since"])
    left = float(ctx.setting("roles.ask_patience")) * HOUR - waited
    return (
        Snooze(min(LOOK_AGAIN, left / 1_000_000 + 1), why)
        if left > 0
        else _by_rules(core, f"{why} for too long")
    )


def _by_rules(core: str, why: str) -> _Named:
    return _Named(canonical_name(core), "rules", why)


def _settled(ctx: Context, core: str, named: _Named) -> Outcome:
    """Find or create the role at the end of this stage, so that later candidates find it without waiting."""
    found = {
        "title": written(core.split()),
        "key": core,
        "name": named.name,
        "name_key": title_key(named.name),
        "role": named.role,
        "method": "rules" if named.method == "embedding" else named.method,
        "category": named.category,
        "approved": not ctx.setting("roles.approval"),
        "demand": _demand(ctx),
    }
    then = {
        "key": core,
        "name": named.name,
        "method": named.method,
        "reason": clean(named.reason)[:500],
        "linked": 0,
        "made": named.role is None,
    }
    return Next(then, effects=(Effect("titles.settle", found),))


def _nearness(ctx: Context) -> Nearness:
    return nearness_of({each: ctx.setting(each) for each in NEARNESS})


def _demand(ctx: Context) -> dict[str, Any]:
    return asdict(Demand.of({each: ctx.setting(each) for each in SETTINGS}))


normalize = Pipeline(KIND, Stage(begin), Stage(name), Stage(compare), Stage(gather))
