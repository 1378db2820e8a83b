"""value_item: from what is stored of an item to what it is worth.

Whatever changes the evidence asks for a valuation in the same transaction (`requests`), with a task of its
own. Of many such tasks for one item only that of the newest request works; the others find that there is a
newer one and end. So a burst of collections is valued once, and a collection that ends while an item is being
valued is valued after it: its task exists, and a valuation that has seen less never replaces one that has
seen more.

value_items is the sweep: items that were changed by hand, whose task was refused or cancelled, or whose
prices have aged.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thresher.apps.prices.alerting import judge_alerts, tell_task
from thresher.apps.prices.model import Item, Valuation
from thresher.apps.prices.store.valuations import ValuationInputs
from thresher.apps.prices.valuation.comps import Converter, Evidence
from thresher.apps.prices.valuation.options import ValuationOptions, options_of
from thresher.apps.prices.valuation.value import value
from thresher.core.clock import HOUR
from thresher.core.context import Context
from thresher.core.outcome import Done, Effect, Finds, Next, Outcome, Skipped
from thresher.core.pipeline import Pipeline, Schedule, Stage
from thresher.core.settlement import Error
from thresher.core.task import NewTask, Task

VALUE, SWEEP = "value_item", "value_items"
LARGE = 2_000  # points: more are valued in a process of their own
BATCH = 500  # items of one round of the sweep
EVERY = 120.0  # seconds


def value_task(item: int, after: int | None = None) -> NewTask:
    """The task that values an item; `after` is the task that asks for it.

    Each asking task has one of its own: with one key for all, what is asked for while the last one runs would
    be refused, and in a lineage even what is asked for after it has ended.
    """
    if after is None:
        return NewTask(VALUE, {"item": item}, key=f"{item}")
    return NewTask(VALUE, {"item": item, "after": after}, key=f"{item}:{after}")


def requests(item: int, task: int) -> tuple[Effect, NewTask]:
    """What a task returns that has changed the evidence about an item: an effect and a child."""
    return Effect("prices.request_valuation", {"item": item, "task": task}), value_task(item, task)


async def value_item(ctx: Context) -> Outcome:
    """Value one item, and see which of its alerts fire."""
    item = int(ctx.task.payload["item"])
    asked = {
        "item": item,
        "after": ctx.task.payload.get("after"),
        "rates_max_age": int(ctx.setting("prices.rates_max_age")),
    }
    found: ValuationInputs | str | None = await ctx.read("prices.valuation_inputs", asked)
    if not isinstance(found, ValuationInputs):
        return Skipped(found or "the item is archived or not there any more")
    made = await _value(ctx, found)
    hysteresis = round(10 * float(ctx.setting("prices.alert.hysteresis")))
    alerts = judge_alerts(found.alerts, found.item, found.before, made, hysteresis)
    said = {"valuation": made, "asked": found.asked, "read_at": found.read_at, "alerts": alerts}
    fires = any(each.notice for each in alerts)
    return Done(
        made.explanation,
        effects=(Effect("prices.store_valuation", said),),
        children=(tell_task(),) if fires else (),
    )


async def _value(ctx: Context, found: ValuationInputs) -> Valuation:
    """In a process of its own where it takes long enough to hold up others."""
    said = (found.item, found.points, found.rates, found.reputations, options_of(ctx.setting), found.read_at)
    return await ctx.compute(value_points, *said) if len(found.points) > LARGE else value_points(*said)


def value_points(
    item: Item,
    points: Sequence[Evidence],
    rates: Converter,
    reputations: Mapping[int, float],
    options: ValuationOptions,
    now: int,
) -> Valuation:
    """The valuation of an item, as a function that another process can be given."""
    return value(item, points, rates, reputations, options, now)


def failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:  # noqa: ARG001  every one is given all
    """The sweep must not ask for ever for what fails for good."""
    return Finds(effects=(Effect("prices.give_up_valuation", {"item": int(task.payload["item"])}),))


async def sweep(ctx: Context) -> Outcome:
    """Ask for the valuations that are due and that nobody is about to make."""
    after = int(ctx.task.checkpoint.get("after", 0))
    age = round(float(ctx.setting("prices.value.every")) * HOUR)
    items = await ctx.read("prices.items_to_value", {"after": after, "age": age, "limit": BATCH})
    children = tuple(map(value_task, items))
    if len(items) == BATCH:
        return Next({"after": items[-1]}, again=True, children=children)
    return Done(f"{len(items):,} items are to be valued" if items else "nothing is due", children=children)


PIPELINES = (Pipeline(VALUE, Stage(value_item), failed=failed), Pipeline(SWEEP, Stage(sweep)))
SCHEDULES = (Schedule("prices.value", NewTask(SWEEP, key="sweep"), every=EVERY),)
