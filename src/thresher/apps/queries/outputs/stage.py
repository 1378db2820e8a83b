"""The last stage of a cycle: offers that new rules judge otherwise, the sheet and the files of companies, and
the alarms. It runs under the same lock as the queries.

Files are read in one step and written in the next: what people wrote must be stored before anything is
written over it.
"""

from dataclasses import replace
from pathlib import Path

import orjson

from thresher.apps.queries.alarms import tell_alarms
from thresher.apps.queries.offers import rules_in_force
from thresher.apps.queries.outputs.files import read_folder, write_folder
from thresher.apps.queries.outputs.options import SheetOptions, read_sheet_options
from thresher.apps.queries.outputs.sync import Result, sync_sheet
from thresher.apps.queries.signals.offers import scores_again
from thresher.core.compute import in_thread
from thresher.core.context import Context
from thresher.core.errors import ConfigError
from thresher.core.outcome import Done, Effect, Next, Outcome
from thresher.hiring.kinds import POSTING
from thresher.hiring.records import PostingRecord

OFFERS_AT_ONCE = 200
COMPANIES_AT_ONCE = 2_000


async def look_after_outputs(ctx: Context) -> Outcome:
    """One step of what follows the queries; the checkpoint says which."""
    said = ctx.task.checkpoint
    step = said.get("step")
    if step is None and (scores := await _scores(ctx)):
        return Next(checkpoint=said, again=True, effects=(scores,))
    if step is None and (figures := await _companies(ctx)):
        return Next(checkpoint={**said, "step": "read"}, again=True, effects=(figures,))
    options = await sheet_options(ctx)
    folder = await _folder(ctx, options)
    if folder is not None and step != "write":
        found = await read_folder(ctx, options, folder)
        return Next(checkpoint={**said, "step": "write"}, again=True, effects=found.effects)
    results = [await sync_sheet(ctx, options, by_hand=bool(ctx.task.payload.get("sync")))]
    if folder is not None:
        results.append(await write_folder(ctx, folder))
    told = await tell_alarms(ctx, options.timezone)
    return _done(int(said["serial"]), results, told)


def _done(runs: int, results: list[Result], told: tuple[Effect, ...]) -> Done:
    said = [f"{runs} {'run' if runs == 1 else 'runs'}" if runs else "no query was due"]
    effects = (*(effect for each in results for effect in each.effects), *told)
    return Done("; ".join((*said, *(each.note for each in results))), effects=effects)


async def _scores(ctx: Context) -> Effect | None:
    """Score some of the offers that other rules have scored; None where there are none."""
    rules = await rules_in_force(ctx)
    keys = await ctx.read("queries.outdated", {"rules": rules.print, "limit": OFFERS_AT_ONCE})
    if not keys:
        return None
    texts: dict[str, tuple[str, str | None] | None] = dict.fromkeys(keys)
    for found in await ctx.records(POSTING, keys=keys, limit=len(keys)):
        posting = PostingRecord.of(found)
        texts[found.key] = (posting.title or "", posting.description)
    scores = await ctx.compute(scores_again, texts, rules)
    return Effect("queries.scores", {"scores": scores, "rules": rules.print})


async def _companies(ctx: Context) -> Effect | None:
    """Compute the figures of companies that no run has seen to. What is left waits for the next cycle."""
    keys = await ctx.read("queries.dirty", {"limit": COMPANIES_AT_ONCE, "before": ctx.now()})
    return Effect("queries.aggregate", {"companies": keys}) if keys else None


async def sheet_options(ctx: Context) -> SheetOptions:
    """What the project says about its sheet. It was checked when it was declared."""
    said = await ctx.read("queries.option", {"name": "sheet"})
    options = read_sheet_options(orjson.loads(said) if said else None, _wrong)
    return replace(options, resolutions=(await rules_in_force(ctx)).resolutions)


async def _folder(ctx: Context, options: SheetOptions) -> Path | None:
    """Where the table of companies is written as files, if anywhere. A worker without the project's folder
    has none.
    """
    home: str | None = await ctx.read("queries.option", {"name": "folder"})
    if options.folder is None or home is None or not await in_thread(Path(home).is_dir):
        return None
    return Path(home) / options.folder


def _wrong(key: str, says: str) -> ConfigError:
    return ConfigError(f"thresher.yaml: {key} {says}")
