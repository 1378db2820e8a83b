"""A check: a known posting's own page is asked for anew, because its list does not say whether it is still
there and still reads so.

Where the page is this posting's, it is open, and what has changed is read. Where it is gone, it was missed
once more, and is closed when it was missed often enough; but not while its list shows it. From anything else
nothing is concluded.
"""

from typing import Any

from thresher.apps.jobs.detail import call_for, completed, fetch_detail, read_detail
from thresher.apps.jobs.moment import day
from thresher.core.context import Context
from thresher.core.errors import Gone, Permanent
from thresher.core.outcome import Done, Outcome, Skipped
from thresher.core.page import Page
from thresher.core.record import Found
from thresher.hiring.group import page_of
from thresher.hiring.kinds import BOARD, POSTING
from thresher.hiring.life import CLOSED
from thresher.hiring.records import entry
from thresher.reading.platforms.calls import Call
from thresher.reading.postings.posting import Posting


async def check(ctx: Context, known: Found) -> Outcome | dict[str, Any]:
    """How the check ends; or, where the page says something else than before, what has to be written and
    judged.
    """
    data, is_listed = known.data, bool(ctx.task.payload.get("listed"))
    if data.get("state") == CLOSED:
        return Skipped("it is closed already")
    if is_listed and _list_says_it(ctx, known):
        return Skipped("its list says everything")
    board = await ctx.record(BOARD, data["board"]) if data.get("board") else None
    call = call_for(data, board)
    if call is None:
        return Skipped("it has no page that could be asked for")
    try:
        page = await fetch_detail(ctx, call, max_age=0.0)  # only what the page says now counts
    except Gone as problem:
        return (
            Skipped(f"its list shows it, though its page is gone: {problem}")
            if is_listed
            else _missed(ctx, known, problem)
        )
    except Permanent as problem:  # it is known, so that it cannot be asked for is no failure
        return Skipped(f"unknown: {problem}")
    found = await ctx.compute(read_detail, page, str(data.get("title") or ""), day(ctx.now()))
    if found is None or not _is_its_page(page, call, found, known):
        return Skipped(f"unknown: {page.final_url} shows something else, which proves nothing")
    return _seen(ctx, known, found, is_listed)


def _missed(ctx: Context, known: Found, problem: Gone) -> Outcome:
    count = int(known.data.get("missed") or 0) + 1
    if count < ctx.setting("jobs.close_looks") + bool(ctx.task.payload.get("doubted")):
        reason = f"its page is gone, and another check has to say so: {problem}"
        return Done(reason, records=(entry(POSTING, known.key, {"missed": count}),))
    return Done(
        f"closed: {problem}", records=(entry(POSTING, known.key, {"state": CLOSED, "closed_at": ctx.now()}),)
    )


def _seen(ctx: Context, known: Found, found: Posting, is_listed: bool) -> Outcome | dict[str, Any]:
    """It is there. Of a text that its list says, the list knows best."""
    data = known.data
    added = {name: value for name, value in completed(data, found).items() if value != data.get(name)}
    if _list_says_it(ctx, known):
        added.pop("description", None)
    seen: dict[str, Any] = {"seen_at": ctx.now()} | (
        {} if is_listed or not data.get("missed") else {"missed": 0}
    )
    if added:
        return {**added, **seen, "revision": int(data.get("revision") or 0) + 1}
    return Done("it is there, and reads as before", records=(entry(POSTING, known.key, seen),))


def _list_says_it(ctx: Context, known: Found) -> bool:
    text = known.data.get("description") if "description" in known.data.get("said", ()) else None
    return len(text or "") >= int(ctx.setting("jobs.posting.description"))


def _is_its_page(page: Page, call: Call, found: Posting, known: Found) -> bool:
    """Sites lead from what is gone to what is left: another address with another title is another posting."""
    stayed = bool(page_of(call.url)) and page_of(page.final_url) == page_of(call.url)
    return stayed or found.title.casefold() == str(known.data.get("title") or "").casefold()
