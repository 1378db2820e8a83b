"""updateExtractionCompletion: the end of an extraction, and the watch over those that do not move.

The machine starts it once every task of an extraction has ended. Nobody polls: what the seed waited five
minutes for is known in the transaction that ends the last page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from thresher.apps.extractions.model import Extraction, ExtractionPage, ExtractionStatus, PageStatus
from thresher.apps.extractions.start import COMPLETION
from thresher.apps.extractions.store.extractions import StepFigures
from thresher.apps.extractions.store.totals import Totals
from thresher.core.answer import DOLLAR
from thresher.core.clock import HOUR, SECOND, span
from thresher.core.context import Context
from thresher.core.event import NewEvent
from thresher.core.outcome import Done, Effect, Next, Outcome, Skipped
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.task import NewTask

CHECK_STALE, TELL_PEOPLE = "checkStale", "tellPeople"
EVERY = 300.0  # seconds between two looks for extractions that do not move


@dataclass(frozen=True, slots=True)
class Ending:
    """How an extraction ended, and why."""

    status: ExtractionStatus
    reason: str


def ending(totals: Totals) -> Ending:
    """The rules in order. Only what was really read makes an extraction complete: without a page with data, a
    page that failed may be the one that leads to all of them.
    """
    extraction = totals.extraction
    if extraction.status is ExtractionStatus.CANCELLED:
        return Ending(ExtractionStatus.CANCELLED, extraction.reason or "cancelled")
    if totals.root is PageStatus.ERROR:
        why = totals.root_failure or "no reason is known"
        return Ending(ExtractionStatus.ERROR, f"the first page could not be read: {why}")
    left = totals.waiting + totals.unread
    if left:
        pages = f"{left:,} page{'s' if left != 1 else ''}"
        return Ending(
            ExtractionStatus.STALE,
            f"{pages} wait and no task will read them: their tasks were cancelled or refused; go on with "
            f"thresher extract resume {extraction.id}",
        )
    if totals.nothing_read and totals.astray and totals.first_astray:
        return Ending(ExtractionStatus.ERROR, _astray(extraction, totals.first_astray))
    if totals.nothing_read and totals.failed:
        return Ending(
            ExtractionStatus.ERROR,
            f"not one page with data could be read, and {_count(totals.failed, 'page')} failed: thresher "
            f"extract pages {extraction.id} --state failed",
        )
    return Ending(ExtractionStatus.COMPLETE, _summary(totals))


def _astray(extraction: Extraction, page: ExtractionPage) -> str:
    """An empty data set would say that the site is empty, and the site does not."""
    return (
        f"not one page with data was found: on {page.url} {page.note}, and it does not say that there is nothing. "
        f"See what the recipe makes of it: thresher recipes test {extraction.recipe_name}; if the site has changed: "
        f"thresher recipes detect {extraction.recipe_name}"
    )


def _summary(totals: Totals) -> str:
    """What was found, and what was left out."""
    pages = sum(step.succeeded for step in totals.steps)
    said = [f"{_count(totals.items, 'item')} from {_count(pages, 'page')}"]
    if totals.failed:
        said.append(f"{_count(totals.failed, 'page')} failed")
    if totals.astray:
        lists = "list leads" if totals.astray == 1 else "lists lead"
        where = f"thresher extract pages {totals.extraction.id} --state astray"
        said.append(f"{totals.astray:,} {lists} nowhere and not said to be empty: {where}")
    if totals.unverified:
        said.append(f"{_count(totals.unverified, 'item')} with values that were not found on their page")
    if totals.extraction.dropped:
        said.append(f"{_count(totals.extraction.dropped, 'link')} not followed because of a limit")
    if totals.api_note:
        said.append(f"of the API: {totals.api_note}")
    if not totals.items:
        said.append("nothing was found")
    return "; ".join(said)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


async def conclude(ctx: Context) -> Outcome:
    """Say how an extraction ended."""
    totals: Totals | None = await ctx.read("extractions.totals", ctx.task.payload)
    if totals is None:
        return Skipped("its extraction is not there any more")
    extraction, how = totals.extraction, ending(totals)
    figures = {
        "steps": [asdict(step) for step in totals.steps],
        "items": totals.items,
        "unverified": totals.unverified,
    }
    said = {"extraction": extraction.id, "version": ctx.task.payload["version"]}
    ended = {**said, "status": how.status.value, "reason": how.reason, "cost": totals.cost}
    title, body = notice(totals, how, ctx.now())
    drift = totals.drift if how.status is ExtractionStatus.COMPLETE else None
    lost = asdict(drift) if drift is not None else {}
    return Next(
        checkpoint={"title": title, "body": body},
        effects=(
            Effect("extractions.dataset_ended", {**said, "coverage": totals.coverage}),
            Effect("extractions.finish", {**ended, "completion": figures}),
        ),
        events=(NewEvent("dataset_drifted", {"extraction": extraction.id, **lost}),) if lost else (),
    )


def notice(totals: Totals, how: Ending, now: int) -> tuple[str, str]:
    """What people are told at the end."""
    extraction = totals.extraction
    title = f"Extraction {extraction.id} of {extraction.recipe_name}: {how.status}"
    took = span(((now - extraction.started_at) / SECOND) if extraction.started_at else 0)
    lines = [
        how.reason,
        "",
        f"Site: {extraction.url}",
        f"Entity: {extraction.entity.name}",
        f"Time: {took}",
        f"Cost: ${totals.cost / DOLLAR:.4f}",
        *(_step_line(step) for step in totals.steps),
    ]
    if totals.drift is not None and how.status is ExtractionStatus.COMPLETE:
        lines.append(f"The site may have changed: {totals.drift.says}.")
    return title, "\n".join(lines)


def _step_line(step: StepFigures) -> str:
    return (
        f"Step {step.step} ({step.kind}, {step.page_type}): {step.succeeded:,} of {step.total:,} pages, "
        f"{step.failed:,} failed, {step.items:,} items"
    )


async def tell(ctx: Context) -> Outcome:
    """Send the notice. Nobody to tell is no trouble."""
    said: Mapping[str, Any] = ctx.task.checkpoint or ctx.task.payload
    told = await ctx.tell(said["title"], said["body"])
    return Done(note="people were told" if told else "there is nobody to tell")


async def check_stale(ctx: Context) -> Outcome:
    """Find the extractions in which nothing has moved for too long, and say why."""
    hours = float(ctx.setting("extractions.stale"))
    found: Sequence[tuple[Extraction, str]] = await ctx.read(
        "extractions.stuck", {"before": ctx.now() - round(hours * HOUR)}
    )
    effects, children = [], []
    for extraction, why in found:
        reason = f"nothing has moved for {hours:g} hours: {why}"
        effects.append(Effect("extractions.mark_stale", {"extraction": extraction.id, "reason": reason}))
        children.append(tell_task(f"Extraction {extraction.id} of {extraction.recipe_name}: STALE", reason))
    return Done(effects=tuple(effects), children=tuple(children), result={"stale": len(effects)})


def tell_task(title: str, body: str) -> NewTask:
    """A notice as a task of its own, for those who cannot send it themselves."""
    return NewTask(TELL_PEOPLE, {"title": title, "body": body}, key=title[:200])


PIPELINES = (
    Pipeline(COMPLETION, Stage(conclude), Stage(tell)),
    Pipeline(CHECK_STALE, Stage(check_stale)),
    Pipeline(TELL_PEOPLE, Stage(tell, name="tell")),
)
SCHEDULES = (Schedule("extractions.stale", NewTask(CHECK_STALE, key="stale"), every=EVERY),)
