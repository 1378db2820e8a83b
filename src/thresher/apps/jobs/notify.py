"""Notify a person of new matches: one message for all that came together, each match at least once.

Every match worth a message asks for its own `notify` task, slightly delayed. The first of them to run reports
all pending matches; the others find theirs reported and end. They go through one source with one slot, so no
two report the same match, and a match saved while a message is being sent has its own task after it. While no
target can be reached that source is closed, and they wait without spending anything.

A worker that dies between sending the message and recording it leaves a match unreported, and it is reported
again.
"""

from collections.abc import Sequence

from thresher.apps.jobs.model import MATCH, MatchRecord, match_entry
from thresher.apps.jobs.person.profile_record import my_profile
from thresher.apps.jobs.person.wants import Notify
from thresher.core.context import Context
from thresher.core.errors import RateLimited, Transient
from thresher.core.outcome import Done, Outcome, Skipped
from thresher.core.pipeline import Pipeline, Source, Stage
from thresher.core.record import Is, Record
from thresher.core.task import NewTask

KIND = "notify"
SOURCE = Source("notify", in_flight=1, trip_after=None)
MAX_MATCHES = 200  # matches in one settlement; each has a task, so that none is forgotten
SHOWN = 20  # matches in one message
MAX_LENGTH = 120

# The lowest priority that is worth a message.
_PRIORITIES = {
    Notify.HIGH: ("high",),
    Notify.MEDIUM: ("high", "medium"),
    Notify.LOW: ("high", "medium", "low"),
    Notify.NEVER: (),
}


def announcement(match: str, delay: float) -> NewTask:
    """The task that tells of a match that was just saved, together with those of the next `delay` seconds."""
    return NewTask(KIND, {"match": match}, key=f"{KIND}/{match}", delay=delay, detached=True)


async def tell(ctx: Context) -> Outcome:
    """Send a message about every new match that was not sent yet."""
    wanted = await _wanted(ctx)
    if not wanted:
        return Skipped("the profile says never")
    untold = (Is("notified_at", 0), Is("status", "new"), Is("priority", *wanted))
    found = await ctx.records(MATCH, where=untold, order="-score", limit=MAX_MATCHES)
    news = [each for each in map(MatchRecord.of, found) if each.is_current]
    if not news:
        return Done(
            "nothing to send: it was sent with others, was seen already, or is below what the "
            "profile asks to be notified of"
        )
    try:
        told = await ctx.tell(headline(news), letter(news))
    except Transient as problem:
        raise RateLimited(
            str(problem), retry_after=ctx.setting("jobs.notify.retry"), gate=SOURCE.gate
        ) from problem
    if not told:
        return Skipped("there is no one to notify: thresher.yaml has no notify: list")
    at = ctx.now()
    return Done(f"told of {len(news)}", records=tuple(_told(each, at) for each in news))


async def _wanted(ctx: Context) -> tuple[str, ...]:
    profile = await my_profile(ctx)
    return worth_telling(profile.notify if profile else Notify.HIGH)


def worth_telling(wanted: Notify) -> tuple[str, ...]:
    """Return the priorities that the profile wants messages about."""
    return _PRIORITIES[wanted]


def _told(match: MatchRecord, at: int) -> Record:
    return match_entry(match.key, {"notified_at": at})


def headline(news: Sequence[MatchRecord]) -> str:
    """The title of a message."""
    if len(news) == 1:
        return f"New match: {_line(news[0].title)} ({news[0].score})"
    return f"{len(news)} new matches, the best with {news[0].score} points"


def letter(news: Sequence[MatchRecord]) -> str:
    """The text of a message: the best first, each with its address."""
    lines = [_lines(each) for each in news[:SHOWN]]
    if len(news) > SHOWN:
        lines.append(f"… and {len(news) - SHOWN} more: thresher jobs matches --status new")
    return "\n\n".join(lines)


def _lines(match: MatchRecord) -> str:
    where = f", {company}" if (company := _line(match.company)) else ""
    skills = ", ".join(match.matched_skills[:8])
    # An address is not cut: it would lead elsewhere.
    url = " ".join((match.url or "").split())
    parts = [f"{match.score}  {_line(match.title)}{where}", skills and f"    {skills}", f"    {url}"]
    return "\n".join(part for part in parts if part.strip())


def _line(text: str | None) -> str:
    """A text of a stranger's, as one short line."""
    line = " ".join((text or "").split())
    return line if len(line) <= MAX_LENGTH else f"{line[: MAX_LENGTH - 1]}…"


notify = Pipeline(KIND, Stage(tell, through=(SOURCE.gate,)))
