"""The last stage of a cycle: the sheet and the files of companies, offers that new rules judge otherwise, and
the alarms. It runs under the same lock as the queries.
"""

import orjson

from thresher.apps.queries.alarms import tell_alarms
from thresher.apps.queries.outputs.options import SheetOptions, read_sheet_options
from thresher.apps.queries.outputs.sync import sync_sheet
from thresher.core.context import Context
from thresher.core.errors import ConfigError
from thresher.core.outcome import Done, Outcome
from thresher.core.task import Task


async def look_after_outputs(ctx: Context) -> Outcome:
    """Sync the sheet if it is night or a person asks for it, and tell whoever wants to know what is wrong."""
    options = await sheet_options(ctx)
    result = await sync_sheet(ctx, options, by_hand=by_hand(ctx.task))
    told = await tell_alarms(ctx, options.timezone)
    runs = int(ctx.task.checkpoint["serial"])
    note = f"{runs} {'run' if runs == 1 else 'runs'}; {result.note}" if runs else result.note
    return Done(note, effects=(*result.effects, *told))


def by_hand(task: Task) -> bool:
    """Tell whether this cycle is a person's wish to have the outputs synced now."""
    return task.payload.get("sync") is True


async def sheet_options(ctx: Context) -> SheetOptions:
    """What the project says about its sheet. It was checked when it was declared."""
    said = await ctx.read("queries.option", {"name": "sheet"})
    return read_sheet_options(orjson.loads(said) if said else None, _wrong)


def _wrong(key: str, says: str) -> ConfigError:
    return ConfigError(f"thresher.yaml: {key} {says}")
