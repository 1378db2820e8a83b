"""Alarms: what a person has to know, told once, again after a while, and in a daily digest. Pure, but for
the stage at the end.

An alarm has a name and a subject: `sheet_failed/sheet`, `client_stopped/infojobs`. The same one again is
counted. It is open until its cause is gone, and stays as a row afterwards.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from thresher.apps.queries.outputs.hours import Hours, is_open, local_time
from thresher.core.clock import HOUR, SECOND, span
from thresher.core.outcome import Effect

RULES = ("repeat", "quiet_from", "quiet_to", "digest")
MAX_TOLD = 20  # alarms that one message names
MAX_MESSAGE = 500  # characters
MAX_NAME, MAX_SUBJECT = 100, 500
NO_DIGEST = 24.0

NIGHT = Hours(22 * 60, 7 * 60)

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Alarm:
    """A row of `query_alarms`. Times are microseconds since 1970, 0 for never."""

    id: int
    name: str
    subject: str
    message: str
    raised_at: int
    last_at: int
    times: int = 1
    told_at: int = 0
    told_message: str | None = None
    cleared_at: int = 0
    clear_told: bool = False

    @property
    def is_open(self) -> bool:
        return self.cleared_at == 0


@dataclass(frozen=True, slots=True)
class AlarmRules:
    """`quiet` are hours in which nothing is told, `digest` the hour of the daily one."""

    repeat_us: int = 24 * HOUR
    quiet: Hours = NIGHT
    digest: float = 8.0

    @property
    def timezone(self) -> str:
        return self.quiet.timezone


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to send now: the alarms that it tells, those it says are over, and the day of the digest that
    it is.
    """

    title: str
    body: str
    told: tuple[Alarm, ...] = ()
    cleared: tuple[Alarm, ...] = ()
    day: str | None = None


def due_notice(alarms: Sequence[Alarm], now: int, rules: AlarmRules, told_day: str = "") -> Notice | None:
    """What to tell now, if anything. `alarms` are all open ones, and those whose end was not told yet;
    `told_day` is the day of the last digest.
    """
    if is_open(now, rules.quiet):
        return None
    day = _digest_day(now, rules, told_day)
    opened = sorted((each for each in alarms if each.is_open), key=lambda each: (each.raised_at, each.id))
    over = tuple(each for each in alarms if not each.is_open and not each.clear_told)
    if day is not None and (opened or over):
        return Notice(_title(len(opened), "open"), _body(opened, over, now), tuple(opened), over, day)
    news = tuple(each for each in opened if _is_due(each, now, rules))
    return Notice(_title(len(news), "to look at"), _body(news, (), now), news) if news else None


def _digest_day(now: int, rules: AlarmRules, told_day: str) -> str | None:
    """The day whose digest is due; None if it is too early, or was told."""
    local = local_time(now, rules.timezone)
    day = local.date().isoformat()
    is_due = rules.digest < NO_DIGEST and local.hour + local.minute / 60 >= rules.digest
    return day if is_due and day > told_day else None


def _is_due(alarm: Alarm, now: int, rules: AlarmRules) -> bool:
    """New, changed in more than its numbers, or still open after the time to repeat it."""
    if not alarm.told_at:
        return True
    is_changed = _NUMBER.sub("0", alarm.message) != _NUMBER.sub("0", alarm.told_message or "")
    return is_changed or now - alarm.told_at >= rules.repeat_us


def _title(number: int, what: str) -> str:
    if not number:
        return "Thresher: no alarm is open any more"
    return f"Thresher: {'1 alarm' if number == 1 else f'{number:,} alarms'} {what}"


def _body(opened: Sequence[Alarm], over: Sequence[Alarm], now: int) -> str:
    lines = [f"- {_named(each)}: {each.message}{_since(each, now)}" for each in opened[:MAX_TOLD]]
    if len(opened) > MAX_TOLD:
        lines.append(f"- and {len(opened) - MAX_TOLD:,} more")
    if over:
        lines += ["", "No longer the case:", *(f"- {_named(each)}" for each in over[:MAX_TOLD])]
    return "\n".join(lines).strip()


def _named(alarm: Alarm) -> str:
    return f"{alarm.name}/{alarm.subject}"


def _since(alarm: Alarm, now: int) -> str:
    age = (now - alarm.raised_at) / SECOND
    return f" ({alarm.times:,} times in {span(max(age, 1))})" if alarm.times > 1 else ""


# --- the stage


class TellContext(Protocol):
    """What is used of a stage's context."""

    def setting(self, name: str) -> Any: ...
    async def read(self, name: str, data: Mapping[str, Any]) -> Any: ...
    async def tell(self, title: str, body: str) -> bool: ...


async def tell_alarms(ctx: TellContext, timezone: str) -> tuple[Effect, ...]:
    """Send what is due, and return what to store of it. Without a target nothing is told, and the alarms
    stand as rows. A message that reached nobody raises, and is tried again.
    """
    rules = {name: float(ctx.setting(f"queries.alarm.{name}")) for name in RULES}
    due = await ctx.read("queries.alarms_due", {**rules, "timezone": timezone})
    if due is None or not await ctx.tell(due["title"], due["body"]):
        return ()
    return (Effect("queries.told", due["told"]),)
