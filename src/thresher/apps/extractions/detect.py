"""detectConfiguration: from the address of a site and an entity to a configuration that was proved.

    begin      the recipe is being worked on, unless a newer detection was asked for
    look       one page at a time, as the plan wants, until it has a result
    preview    read a few of the sampled pages, as an extraction will
    conclude   write the result down
    tell       send the notice

Every page is an attempt of its own with a checkpoint behind it, so a crash repeats one request. What was seen
is stored by its content; the plan (`detection/plan.py`) is made anew from it each time. Only the newest
detection of a recipe goes on, and only its result is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import orjson

from thresher.apps.extractions.completion import tell_task
from thresher.apps.extractions.detection.look import PageLook, look_at, look_at_script
from thresher.apps.extractions.detection.plan import Case, plan
from thresher.apps.extractions.detection.report import (
    Confidence,
    CostReport,
    Estimate,
    PreviewItem,
    Question,
    Report,
)
from thresher.apps.extractions.detection.steps import Ask, Asked, Found, Hopeless, Step, Unclear, Want, Why
from thresher.apps.extractions.detection.votes import PROMPTS, SCHEMAS, counted, question
from thresher.apps.extractions.extract_data import schema_of, site_of
from thresher.apps.extractions.model import DETECT, Configuration, Level, Recipe, source_of
from thresher.core.answer import DOLLAR, By, Extract
from thresher.core.context import Context
from thresher.core.errors import (
    Blocked,
    BudgetExhausted,
    Forbidden,
    Gone,
    InvalidUrl,
    NoBrowser,
    NotYet,
    Permanent,
    Refused,
    TaskError,
    Transient,
    Unauthorized,
    UsageError,
)
from thresher.core.evidence import Evidence, as_json
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Effect, Finds, Next, Outcome, Skipped
from thresher.core.page import Page, Via
from thresher.core.pipeline import Pipeline, Source, Stage, Trip
from thresher.core.settlement import Error
from thresher.core.stored import read, written
from thresher.core.task import Task

SLOTS = Source("extractions.detectConfiguration", in_flight=2, trip_after=None)
TIER = "cheap"
MAX_SECONDS = 900.0  # for one page, with the waits at its host's gate
PATIENCE = 2  # failures of a page that is only a sample, before the detection goes on without it
PREVIEW = 3
MAX_DATA = 2_000  # characters of a value that the report shows
MAX_REASON = 1_500


@dataclass(frozen=True, slots=True)
class Progress:
    """What a detection has seen: hashes of stored looks by their keys, opinions of a model by theirs. `todo`
    is the next step, `end` the result.
    """

    NOT_STORED: ClassVar = (None, False, 0)

    looks: Mapping[str, str] = field(default_factory=dict)
    opinions: Mapping[str, Asked] = field(default_factory=dict)
    todo: Mapping[str, Any] | None = None
    no_browser: bool = False
    end: Mapping[str, Any] | None = None
    cost: int = 0


def recipe_of(trip: Trip) -> str | None:
    """The recipe whose site is detected."""
    name = trip.payload.get("name")
    return name if isinstance(name, str) else None


def gates(trip: Trip) -> tuple[str, ...]:
    """The recipe, our own two slots, and the host of the page that is next."""
    url = trip.checkpoint.get("url") or trip.url
    name = recipe_of(trip)
    recipe = (f"source:{source_of(name)}",) if name else ()
    return (*recipe, SLOTS.gate, *((host_gate(url),) if url else ()))


async def begin(ctx: Context) -> Outcome:
    """See that this is the newest detection, and say that it has begun."""
    recipe = await _recipe(ctx)
    if isinstance(recipe, Skipped):
        return recipe
    first = written(Want(recipe.url, Why.ROOT))
    effect = Effect("extractions.detection_began", _who(ctx.task))
    return Next(await _kept(ctx, Progress(todo=first), recipe.url), effects=(effect,))


async def look(ctx: Context) -> Outcome:
    """Take the next step of the plan, and make the plan anew."""
    recipe = await _recipe(ctx)
    if isinstance(recipe, Skipped):
        return recipe
    progress = await _progress(ctx)
    if progress.todo is not None:
        progress = await _taken(ctx, recipe, progress)
    step = plan(await _case(ctx, recipe, progress))
    if isinstance(step, Want | Ask) and len(progress.looks) >= int(
        ctx.setting("extractions.detection_pages")
    ):
        step = Hopeless(
            f"after {len(progress.looks)} pages the site is still not understood (setting "
            "extractions.detection_pages); give the recipe a configuration"
        )
    if isinstance(step, Want | Ask):
        todo = {**written(step), "is": type(step).__name__.lower()}
        following = replace(progress, todo=todo)
        return Next(await _kept(ctx, following, step.url), again=True)
    return Next(await _kept(ctx, replace(progress, todo=None, end=_ending(step)), recipe.url))


async def preview(ctx: Context) -> Outcome:
    """Read the sampled pages as an extraction will, one at a time."""
    recipe = await _recipe(ctx)
    if isinstance(recipe, Skipped):
        return recipe
    progress = await _progress(ctx)
    end = dict(progress.end or {})
    left = list(end.get("details", ()))
    if not left:
        return Next(ctx.task.checkpoint)
    pages = await _stored_pages(ctx, progress, end["details_seen"])
    level = read(Configuration, end["configuration"]).levels[-1]
    if not end["items"] and not await ctx.can_ask(TIER):
        await ctx.learn(
            list(pages.values()), schema_of(recipe.entity, level), site=site_of(recipe.name, level)
        )
    item, cost = await _previewed(ctx, recipe, level, pages.get(left[0]))
    kept = [*end["items"], written(item)] if item is not None else end["items"]
    end |= {"details": left[1:], "items": kept} | ({"model_price": cost / DOLLAR} if cost else {})
    return Next(
        await _kept(ctx, replace(progress, end=end, cost=progress.cost + cost), recipe.url), again=True
    )


async def conclude(ctx: Context) -> Outcome:
    """Write the result down."""
    recipe = await _recipe(ctx)
    if isinstance(recipe, Skipped):
        return recipe
    progress = await _progress(ctx)
    end = dict(progress.end or {})
    report = _completed(recipe, read(Report, end.get("report") or {}), end, progress)
    if end["is"] != "found":
        said = {**_who(ctx.task), "reason": end["reason"][:MAX_REASON], "report": written(report)}
        notice = _failure_notice(recipe, end["reason"], report.question)
        return Next(checkpoint=notice, effects=(Effect("extractions.undetected", said),))
    configuration = read(Configuration, end["configuration"])
    reason = f"detected by {report.made_by}: {_summary(configuration, report)}"
    found = {"configuration": end["configuration"], "report": written(report), "made_by": report.made_by}
    effect = Effect("extractions.detected", {**_who(ctx.task), **found, "reason": reason[:MAX_REASON]})
    return Next(checkpoint=_success_notice(recipe, configuration, report), effects=(effect,))


async def tell(ctx: Context) -> Outcome:
    """Send the notice, unless a newer detection was asked for meanwhile."""
    recipe = await _recipe(ctx)
    if isinstance(recipe, Skipped):
        return recipe
    said = ctx.task.checkpoint
    told = await ctx.tell(said["title"], said["body"])
    return Done(note=f"{said['title']}; {'people were told' if told else 'there is nobody to tell'}"[:500])


def failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:  # noqa: ARG001  all are given the settings
    """A detection that was tried for the last time says why it failed, and people are told."""
    reason = f"the site could not be read: {error.message}"[:MAX_REASON]
    effect = Effect("extractions.undetected", {**_who(task), "reason": reason, "report": None})
    name = task.payload.get("name") or task.payload["recipe"]
    notice = tell_task(f"Recipe {name}: no configuration (detection {task.payload['detection']})", reason)
    return Finds(effects=(effect,), children=(notice,))


# --- the recipe and the progress


async def _recipe(ctx: Context) -> Recipe | Skipped:
    """The recipe, if this detection is still the one that is wanted."""
    recipe: Recipe | None = await ctx.read("extractions.recipe", {"recipe": ctx.task.payload["recipe"]})
    if recipe is None or recipe.retired_at:
        return Skipped("the recipe is no longer used")
    if recipe.detection != ctx.task.payload["detection"]:
        return Skipped(f"detection {recipe.detection} of this recipe was asked for later")
    return recipe


def _who(task: Task) -> dict[str, Any]:
    return {"recipe": task.payload["recipe"], "detection": task.payload["detection"]}


async def _kept(ctx: Context, progress: Progress, url: str) -> dict[str, Any]:
    """The checkpoint: what was seen is stored by its content, for a checkpoint must be small."""
    return {"progress": await ctx.save(orjson.dumps(written(progress))), "url": url}


async def _progress(ctx: Context) -> Progress:
    stored = await ctx.load(str(ctx.task.checkpoint["progress"]))
    return read(Progress, orjson.loads(stored))


async def _case(ctx: Context, recipe: Recipe, progress: Progress) -> Case:
    looks = {key: await _stored_look(ctx, stored) for key, stored in progress.looks.items()}
    given = ctx.task.payload.get("given")
    return Case(
        recipe.url,
        recipe.entity,
        looks,
        progress.opinions,
        read(Configuration, given) if isinstance(given, Mapping) else None,
        int(ctx.setting("extractions.samples")),
        can_ask=await ctx.can_ask(TIER) and int(ctx.setting("extractions.votes")) > 0,
        can_render=not progress.no_browser,
    )


async def _stored_look(ctx: Context, stored: str) -> PageLook:
    return read(PageLook, orjson.loads(await ctx.load(stored)))


# --- one step


async def _taken(ctx: Context, recipe: Recipe, progress: Progress) -> Progress:
    todo = progress.todo or {}
    if todo.get("is") == "ask":
        return await _asked(ctx, recipe, progress, todo)
    want = read(Want, todo)
    try:
        seen = await _looked(ctx, recipe, want)
    except NoBrowser:
        return replace(progress, todo=None, no_browser=True)
    key = f"render:{want.url}" if want.render else want.url
    stored = await ctx.save(orjson.dumps(written(seen)))
    return replace(progress, looks={**progress.looks, key: stored}, todo=None)


async def _looked(ctx: Context, recipe: Recipe, want: Want) -> PageLook:
    """A look at a page; one that cannot be had is a look, too, with the trouble in words."""
    try:
        page = await ctx.fetch(want.url, render=want.render)
    except NoBrowser:
        raise
    except (Blocked, Unauthorized, Permanent, InvalidUrl) as problem:
        return _trouble(want, problem)
    except Transient as problem:
        if want.why is Why.ROOT or ctx.task.failures < PATIENCE:
            raise
        return _trouble(want, problem)
    if want.why is Why.SCRIPT:
        seen = await ctx.compute(look_at_script, page, recipe.url)
    else:
        seen = await ctx.compute(look_at, page, recipe.entity)
    body = await ctx.save(page.body) if want.why in (Why.SAMPLE, Why.ROOT) else None
    return replace(seen, asked=want.url, body=body, content_type=page.headers.get("content-type", ""))


def _trouble(want: Want, problem: Exception) -> PageLook:
    return PageLook(
        want.url, want.url, trouble=_in_words(want.url, problem), is_gone=isinstance(problem, Gone)
    )


def _in_words(url: str, problem: Exception) -> str:
    """Why a page could not be looked at, for the person who made the recipe."""
    match problem:
        case Gone():
            return f"{url} does not exist (404 or 410); check the address"
        case Refused():
            return f"{url} may not be fetched: {problem}"
        case Blocked():
            return f"{url} is behind a wall against bots: {problem}"
        case Unauthorized() | Forbidden():
            return f"{url} is not open to everybody: {problem}"
        case TaskError() | UsageError():
            return f"{url} could not be read: {problem}"
        case _:
            return f"{url} could not be read"


async def _asked(ctx: Context, recipe: Recipe, progress: Progress, todo: Mapping[str, Any]) -> Progress:
    """Ask a model as often as the setting says. Each question shows something else, and each answer is
    stored: an attempt that is repeated pays for none of them again.
    """
    about, seen = todo["about"], await _stored_look(ctx, _look_of(progress, todo["url"]))
    answers: list[Mapping[str, Any]] = []
    cost = 0
    for vote in range(int(ctx.setting("extractions.votes"))):
        try:
            answer = await ctx.ask(
                PROMPTS[about], SCHEMAS[about], question(seen, recipe.entity, vote), tier=TIER
            )
        except Permanent:  # no answer that fits: a vote for nothing
            answers.append({})
            continue
        answers.append(answer.value)
        cost += 0 if answer.cached else answer.cost
    opinion = counted(about, seen, answers)
    return replace(
        progress, opinions={**progress.opinions, todo["key"]: opinion}, todo=None, cost=progress.cost + cost
    )


def _look_of(progress: Progress, url: str) -> str:
    return progress.looks.get(f"render:{url}") or progress.looks[url]


# --- preview


async def _stored_pages(ctx: Context, progress: Progress, urls: Sequence[str]) -> dict[str, Page]:
    found = {}
    for url in urls:
        seen = await _stored_look(ctx, _look_of(progress, url))
        if seen.body is not None:
            headers = {"content-type": seen.content_type}
            found[url] = Page(url, seen.url, 200, headers, await ctx.load(seen.body), ctx.now(), Via.CACHE)
    return found


async def _previewed(
    ctx: Context, recipe: Recipe, level: Level, page: Page | None
) -> tuple[PreviewItem | None, int]:
    """What an extraction will read on a page. Without a model, and without data in the page, that is
    nothing yet.
    """
    if page is None:
        return None, 0
    asks = await ctx.can_ask(TIER)
    try:
        found = await ctx.extract(page, schema_of(recipe.entity, level), site=site_of(recipe.name, level))
    except (NotYet, BudgetExhausted, UsageError):
        if asks:
            raise
        found = Extract({}, Evidence(), By.NOBODY, ("no model is configured, and the page declares no data",))
    except Permanent as problem:
        found = Extract({}, Evidence(), By.NOBODY, (str(problem),))
    data = found.value if isinstance(found.value, Mapping) else {}
    shown = {name: _short(value) for name, value in data.items() if value not in (None, "", [])}
    return PreviewItem(page.url, shown, as_json(found.evidence), str(found.by), found.doubts), found.cost


def _short(value: Any) -> Any:
    return value[:MAX_DATA] if isinstance(value, str) else value


# --- the result


def _ending(step: Step) -> dict[str, Any]:
    match step:
        case Found():
            details = [] if step.configuration.is_api else list(step.details)
            return {
                "is": "found",
                "configuration": written(step.configuration),
                "report": written(step.report),
                "details": details,
                "details_seen": details,
                "items": [written(PreviewItem(data=row, by="api")) for row in step.rows[:PREVIEW]],
            }
        case Unclear():
            report = replace(step.report, question=step.question)
            return {"is": "unclear", "reason": step.question.asks, "report": written(report)}
        case Hopeless():
            return {"is": "hopeless", "reason": step.reason}
        case _:
            raise AssertionError(f"{step} is no end")


def _completed(recipe: Recipe, report: Report, end: Mapping[str, Any], progress: Progress) -> Report:
    items = [read(PreviewItem, each) for each in end.get("items", ())]
    told = {name for item in items for name in item.data}
    wanted = [each.name for each in recipe.entity.schema.fields]
    return replace(
        report,
        preview=tuple(items[:PREVIEW]),
        fields_read=tuple(name for name in wanted if name in told),
        fields_missing=tuple(name for name in wanted if name not in told) if items else (),
        cost=_cost(items, report.items, end),
        requests=len(progress.looks),
        model_cost=progress.cost / DOLLAR,
    )


def _cost(items: Sequence[PreviewItem], number: Estimate, end: Mapping[str, Any]) -> CostReport:
    """By the last page that was read: by then a site that can be learned was learned from the others."""
    if not items:
        return CostReport(None, "unknown: no page was read")
    last = items[-1].by
    if last in (By.DATA, By.LEARNED, "api"):
        return CostReport(0.0, "nothing: the pages are read without a model")
    price = end.get("model_price")
    if last == By.MODEL and price and number.likely is not None:
        return CostReport(round(price * number.likely, 2), f"${price:.4f} a page, until the site is learned")
    return CostReport(None, "unknown: the pages were not read without a model")


def _summary(configuration: Configuration, report: Report) -> str:
    if configuration.is_api:
        return "an API"
    kinds = " → ".join(level.page_type for level in configuration.levels)
    return f"{kinds}, {_number(report.items)} items on {_number(report.pages)} pages"


def _number(estimate: Estimate) -> str:
    if estimate.likely is None:
        return f"at least {estimate.low:,}" if estimate.low else "an unknown number of"
    exact = estimate.confidence is Confidence.COUNTED
    return f"{estimate.likely:,}" if exact else f"about {estimate.likely:,}"


def _success_notice(recipe: Recipe, configuration: Configuration, report: Report) -> dict[str, str]:
    shown = [f"- {next(iter(item.data.values()), '')}" for item in report.preview]
    cost = "unknown" if report.cost.dollars is None else f"${report.cost.dollars:.2f}"
    lines = [
        _summary(configuration, report),
        f"Site: {recipe.url}",
        f"Entity: {recipe.entity.name}",
        f"Estimated cost of models: {cost} ({report.cost.says})",
        *(["Preview:", *shown] if shown else []),
        *report.notes,
        f"Start it with: thresher extract run {recipe.name}",
    ]
    return {"title": f"Recipe {recipe.name}: configuration detected", "body": "\n".join(lines)}


def _failure_notice(recipe: Recipe, reason: str, asked: Question | None) -> dict[str, str]:
    choices = [f"{at}. {choice.says}" for at, choice in enumerate(asked.choices, 1)] if asked else []
    answer = [f"Answer it with: thresher recipes answer {recipe.name} NUMBER"] if choices else []
    edit = f"Edit it with: thresher recipes edit {recipe.name}"
    lines = [reason, f"Site: {recipe.url}", *choices, *answer, edit]
    return {"title": f"Recipe {recipe.name}: no configuration", "body": "\n".join(lines)}


PIPELINES = (
    Pipeline(
        DETECT,
        Stage(begin),
        Stage(look, through=gates, timeout=MAX_SECONDS),
        Stage(preview, through=(SLOTS.gate,), timeout=MAX_SECONDS),
        Stage(conclude),
        Stage(tell),
        failed=failed,
        about=recipe_of,
    ),
)
SOURCES = (SLOTS,)
