"""The checker: reads the store and the effect logs after a campaign, and says what should never have
happened.

Every check is a function from a history to sentences. Times are the database's, in microseconds. `slack_us`
is how far two of them may be out of order: none on SQLite, where one writer holds the clock; a little on
PostgreSQL, where a time is read just before the lock that it belongs to. A clock that was set makes times on
both sides of the jump incomparable, so checks over time are made between jumps only.
"""

import bisect
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import orjson

from thresher.core.limits import MAX_HOST, MAX_KEY_BYTES
from thresher.core.lineage import RefusalRule
from thresher.core.settlement import Ending
from thresher.core.task import TERMINAL, State, ancestry_mark

# What the log calls an outcome, and what the history calls the ending it leads to.
ENDING_OF = {
    "Done": Ending.DONE,
    "Next": Ending.NEXT,
    "Filtered": Ending.FILTERED,
    "Skipped": Ending.SKIPPED,
    "Snooze": Ending.SNOOZED,
    "RateLimited": Ending.SNOOZED,
    "Transient": Ending.RETRY,
    "Permanent": Ending.FAILED,
    "Failed": Ending.FAILED,
}
STATE_OF = {
    Ending.DONE: State.SUCCEEDED,
    Ending.FILTERED: State.FILTERED,
    Ending.SKIPPED: State.SKIPPED,
    Ending.FAILED: State.FAILED,
    Ending.CANCELLED: State.CANCELLED,
}
# Endings that an attempt itself brought about, so that its worker must have written down how.
BROUGHT = {Ending.DONE, Ending.NEXT, Ending.FILTERED, Ending.SKIPPED}

# Attempts that began this close to a setting of the clock may have met it.
MARGIN_US = 5_000_000

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class GateRule:
    """The limits that a gate had all along."""

    max_in_flight: int | None
    interval_us: int
    burst: int


@dataclass
class History:
    """Everything that is left after a campaign."""

    roots: list[int]
    tasks: dict[int, Fields]
    attempts: list[Fields]
    effects: list[Fields]
    records: dict[tuple[str, str], int]
    refusals: list[Fields]
    events: Counter[str]
    repairs: list[Fields]
    gates: dict[str, Fields]
    lanes: list[Fields]
    rules: Mapping[str, GateRule]
    gates_of: Mapping[tuple[str, str], tuple[str, ...]]
    max_depth: int
    max_crashes: int
    max_retries: int
    groups: dict[int, Fields] = field(default_factory=dict)
    counts: dict[int, Counter[str]] = field(default_factory=dict)  # the counters of each group
    workers: dict[int, str] = field(
        default_factory=dict
    )  # their names, which end with the version of the app that they know
    newer: frozenset[tuple[str, str]] = frozenset()  # kinds and stages that the old version does not know
    mourned: frozenset[str] = frozenset()  # kinds whose failed tasks leave an epitaph
    guilty: frozenset[str] = frozenset()  # kinds whose tasks cost their worker its lease, every time
    slack_us: int = 0
    jumps: list[int] = field(default_factory=list)  # when the clock was set, in true time
    observed: list[str] = field(default_factory=list)  # what was wrong while it ran

    def attempts_of(self) -> dict[int, list[Fields]]:
        found: dict[int, list[Fields]] = defaultdict(list)
        for attempt in sorted(self.attempts, key=lambda each: (each["task_id"], each["claim"])):
            found[attempt["task_id"]].append(attempt)
        return found

    def said(self) -> dict[tuple[int, int], Fields]:
        """What each attempt wrote down at its end."""
        return {(line["task"], line["claim"]): line for line in self.effects if line["phase"] == "end"}

    def began(self) -> dict[tuple[int, int], int]:
        """When each attempt began, in true time."""
        return {
            (line["task"], line["claim"]): line["at"] for line in self.effects if line["phase"] == "start"
        }

    def gates_at(self, attempt: Fields) -> tuple[str, ...]:
        task = self.tasks.get(attempt["task_id"])
        return self.gates_of.get((task["kind"], attempt["stage"]), ()) if task else ()


Check = Callable[[History], Iterable[str]]


# --- nothing is lost


def every_root_is_there(history: History) -> Iterator[str]:
    for root in history.roots:
        if root not in history.tasks:
            yield f"task {root} was accepted and is gone"


def every_task_has_ended(history: History) -> Iterator[str]:
    for task in history.tasks.values():
        if task["state"] not in TERMINAL:
            yield f"task {task['id']} ({task['kind']}) is still {task['state']}"


def every_child_is_there_once(history: History) -> Iterator[str]:
    """Each child that an accepted attempt brought is a task or a refusal, and there is no other child."""
    said, brought = history.said(), defaultdict(Counter)
    for attempt in history.attempts:
        line = said.get((attempt["task_id"], attempt["claim"]))
        task = history.tasks.get(attempt["task_id"])
        if line and task and attempt["ending"] in BROUGHT:
            brought[attempt["task_id"]].update((kind, url) for kind, url in line["children"])
    born: dict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
    alive: dict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
    for child in history.tasks.values():
        if child["parent_id"]:
            born[child["parent_id"]][child["kind"], child["url"]] += 1
            alive[child["parent_id"]][child["kind"], child["url"]] += 1
    for refusal in history.refusals:
        born[refusal["parent_id"]][refusal["kind"], refusal["url"]] += 1
    for parent in brought.keys() | born.keys():
        if brought[parent] != born[parent]:
            yield f"task {parent} brought {dict(brought[parent])}, the store has {dict(born[parent])}"
        yield from (
            f"task {parent} has the child {name} {n} times" for name, n in alive[parent].items() if n > 1
        )


# --- nothing happens twice


def claims_rise_one_by_one(history: History) -> Iterator[str]:
    attempts = history.attempts_of()
    for task_id, task in history.tasks.items():
        claims = [attempt["claim"] for attempt in attempts.get(task_id, [])]
        if claims != list(range(1, task["claim"] + 1)):
            yield f"task {task_id} was claimed {task['claim']} times; its attempts are {claims}"


def one_ending_is_final(history: History) -> Iterator[str]:
    for task_id, attempts in history.attempts_of().items():
        final = [attempt["claim"] for attempt in attempts if attempt["ending"] in STATE_OF]
        task = history.tasks.get(task_id)
        if task is None:
            yield f"attempts of task {task_id} are left, and the task is gone"
        elif len(final) > 1 or (final and final[0] != attempts[-1]["claim"]):
            yield f"task {task_id} ended at claim {final} and went on to claim {attempts[-1]['claim']}"
        elif final and STATE_OF[attempts[-1]["ending"]] != task["state"]:
            yield f"task {task_id} is {task['state']}, its last attempt says {attempts[-1]['ending']}"
        elif not final and task["state"] in TERMINAL and not _ended_otherwise(history, task, attempts[-1]):
            yield f"task {task_id} is {task['state']} ({task['error_name']}) without an attempt that made it so"


def _ended_otherwise(history: History, task: Fields, last: Fields) -> bool:
    quarantined = task["error_name"] == "Quarantined" and last["ending"] == Ending.CRASHED
    return quarantined or task["state"] == State.CANCELLED


def every_record_is_counted_once(history: History) -> Iterator[str]:
    """A record was seen as often as accepted attempts brought it: no more, no less. Who fails and is mourned
    brings one more."""
    failed = (
        task
        for task in history.tasks.values()
        if task["state"] == State.FAILED and task["kind"] in history.mourned
    )
    said, brought = history.said(), Counter(("epitaph", str(task["id"])) for task in failed)
    for attempt in history.attempts:
        line = said.get((attempt["task_id"], attempt["claim"]))
        if line and attempt["ending"] in BROUGHT:
            brought.update((kind, key) for kind, key in line["records"])
    for record in brought.keys() | history.records.keys():
        if brought[record] != history.records.get(record, 0):
            yield f"record {record} was brought {brought[record]} times and counted {history.records.get(record, 0)} times"


def only_what_was_performed_was_accepted(history: History) -> Iterator[str]:
    said = history.said()
    for attempt in history.attempts:
        line = said.get((attempt["task_id"], attempt["claim"]))
        name = f"attempt {attempt['task_id']}/{attempt['claim']}"
        if line is None and attempt["ending"] in BROUGHT:
            yield f"{name} ended as {attempt['ending']} and nobody performed it"
        if line and attempt["ending"] in BROUGHT and ENDING_OF.get(line["outcome"]) != attempt["ending"]:
            yield f"{name} ended as {attempt['ending']}; its worker said {line['outcome']}"


def nobody_performs_a_claim_twice(history: History) -> Iterator[str]:
    starts = Counter((line["task"], line["claim"]) for line in history.effects if line["phase"] == "start")
    yield from (
        f"claim {claim} of task {task} was performed {n} times"
        for (task, claim), n in starts.items()
        if n > 1
    )


def no_zombie_was_heard(history: History) -> Iterator[str]:
    """An attempt ends before the next claim of its task begins."""
    for task_id, attempts in history.attempts_of().items():
        for attempt, after in itertools.pairwise(attempts):
            if attempt["ended_at"] > after["started_at"] + history.slack_us and not _jumped(
                history, attempt, after
            ):
                late = attempt["ended_at"] - after["started_at"]
                yield f"claim {attempt['claim']} of task {task_id} was settled {late} µs after claim {after['claim']} began"


def _jumped(history: History, *attempts: Fields) -> bool:
    """Whether the clock was set anywhere near these attempts."""
    if not history.jumps:
        return False
    times = [each.get("began") for each in attempts]
    return None in times or any(
        min(times) - MARGIN_US <= jump <= max(times) + MARGIN_US for jump in history.jumps
    )


# --- limits hold


def slots_hold(history: History) -> Iterator[str]:
    """At no time were more attempts behind a gate than it allows; those of dead workers count until they are
    given back."""
    per_gate: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for attempt in history.attempts:
        if _near_a_jump(history, attempt):
            continue
        for gate in history.gates_at(attempt):
            start, end = (
                attempt["started_at"],
                max(attempt["started_at"], attempt["ended_at"] - history.slack_us),
            )
            per_gate[gate] += [(start, 1), (end, -1)]
    for gate, moves in per_gate.items():
        most, now = history.rules[gate].max_in_flight, 0
        for at, move in sorted(moves):
            now += move
            if most is not None and now > most:
                yield f"{now} attempts were behind {gate} at {at}; it allows {most}"
                break


def rates_hold(history: History) -> Iterator[str]:
    """Any n starts at a gate span at least (n - burst) intervals, between two settings of the clock."""
    starts: dict[tuple[str, int], list[int]] = defaultdict(list)
    for attempt in history.attempts:
        if _near_a_jump(history, attempt):
            continue
        stretch = bisect.bisect(history.jumps, attempt.get("began") or 0)
        for gate in history.gates_at(attempt):
            starts[gate, stretch].append(attempt["started_at"])
    for (gate, _), times in starts.items():
        rule = history.rules[gate]
        if rule.interval_us:
            yield from _too_fast(gate, sorted(times), rule, history.slack_us)


def _too_fast(gate: str, times: list[int], rule: GateRule, slack_us: int) -> Iterator[str]:
    due = 0
    for at in times:
        due = max(due, at)
        if due - at > (rule.burst - 1) * rule.interval_us + slack_us:
            yield f"a start at {gate} at {at} came {due - at - (rule.burst - 1) * rule.interval_us} µs too early"
            return
        due += rule.interval_us


def _near_a_jump(history: History, attempt: Fields) -> bool:
    if not history.jumps:
        return False
    true = attempt.get("began")
    if true is None:
        return True
    at = bisect.bisect(history.jumps, true - MARGIN_US)
    return at < len(history.jumps) and history.jumps[at] <= true + MARGIN_US


# --- nothing runs away, and the books are right


def lineages_are_bounded(history: History) -> Iterator[str]:
    seen: Counter[tuple[int, str, str]] = Counter()
    for task in history.tasks.values():
        if task["depth"] > history.max_depth:
            yield f"task {task['id']} is {task['depth']} deep; the limit is {history.max_depth}"
        if not task["parent_id"]:
            continue
        parent = history.tasks.get(task["parent_id"])
        if (
            parent is None
            or parent["depth"] + 1 != task["depth"]
            or (parent["tracking_id"] or parent["id"]) != task["tracking_id"]
        ):
            yield f"task {task['id']} does not fit below its parent {task['parent_id']}"
        elif ancestry_mark(task["kind"], task["lineage_key"]) in orjson.loads(parent["ancestry"]):
            yield f"task {task['id']} is its own ancestor"
        if task["lineage_key"]:
            seen[task["tracking_id"], task["kind"], task["lineage_key"]] += 1
    yield from (
        f"{kind} {key} is {n} times in lineage {root}" for (root, kind, key), n in seen.items() if n > 1
    )


def budgets_add_up(history: History) -> Iterator[str]:
    for task_id, attempts in history.attempts_of().items():
        task = history.tasks.get(task_id)
        if task is None:
            continue
        endings = Counter(attempt["ending"] for attempt in attempts)
        if task["crashes"] != endings[Ending.CRASHED]:
            yield f"task {task_id} counts {task['crashes']} crashes and has {endings[Ending.CRASHED]}"
        if task["failures"] != endings[Ending.RETRY] + endings[Ending.FAILED]:
            yield f"task {task_id} counts {task['failures']} failures and has {endings[Ending.RETRY] + endings[Ending.FAILED]}"
        if endings[Ending.RETRY] > history.max_retries:
            yield f"task {task_id} was tried again {endings[Ending.RETRY]} times; the budget is {history.max_retries}"
        quarantined = task["error_name"] == "Quarantined"
        if quarantined != (task["crashes"] >= history.max_crashes) and task["state"] != State.CANCELLED:
            yield f"task {task_id} crashed {task['crashes']} times and is {task['state']} ({task['error_name']})"


def gates_are_empty(history: History) -> Iterator[str]:
    for name, gate in history.gates.items():
        if gate["in_flight"]:
            yield f"{name} counts {gate['in_flight']} in flight; nothing runs"
    if all(task["state"] in TERMINAL for task in history.tasks.values()):
        yield from (
            f"lane {lane['key']!r} is parked although nothing waits"
            for lane in history.lanes
            if lane["status"] == "parked"
        )


def nothing_was_repaired(history: History) -> Iterator[str]:
    """Timers may be set right after the clock was set back; counters and lanes never."""
    for detail in history.repairs:
        if "timer_was" not in detail or not history.jumps:
            yield f"something had to be repaired: {detail}"


# --- who does harm is stopped, and nobody else


def long_keys_fail_alone(history: History) -> Iterator[str]:
    """A task whose record has a key that is too long fails at once, as bad data; no other task fails in that
    way."""
    brought = {
        each
        for each, line in history.said().items()
        if any(len(key.encode()) > MAX_KEY_BYTES for _, key in line["records"])
    }
    for attempt in history.attempts:
        if (attempt["task_id"], attempt["claim"]) in brought and attempt["ending"] in BROUGHT | {
            Ending.RETRY,
            Ending.SNOOZED,
        }:
            yield f"attempt {attempt['task_id']}/{attempt['claim']} brought a key that is too long and ended as {attempt['ending']}"
    for task in history.tasks.values():
        is_bad, failed = (task["id"], task["claim"]) in brought, task["state"] == State.FAILED
        if (
            failed
            and is_bad != (task["error_name"] == "InvalidPayload")
            and task["error_name"] != "Quarantined"
        ):
            yield f"task {task['id']} ({task['kind']}) failed with {task['error_name']}"


def only_bad_children_are_invalid(history: History) -> Iterator[str]:
    """A child whose host is too long for a host is refused as invalid, and nothing else is."""
    for refusal in history.refusals:
        if (refusal["rule"] == RefusalRule.INVALID) != _has_long_host(refusal["url"]) and refusal[
            "rule"
        ] != RefusalRule.CANCELLED:
            yield f"{refusal['kind']} {refusal['url']} below task {refusal['parent_id']} was refused as {refusal['rule']}"
    yield from (
        f"task {task['id']} has no host: {task['url']}"
        for task in history.tasks.values()
        if _has_long_host(task["url"])
    )


def _has_long_host(url: str | None) -> bool:
    return url is not None and len(urlsplit(url).netloc) > MAX_HOST


def quarantine_finds_the_guilty(history: History) -> Iterator[str]:
    """Who harms its worker is quarantined unless it was cancelled; nobody else is for what the guilty did."""
    starts = [line for line in history.effects if line["phase"] == "start"]
    began = {(line["task"], line["claim"]): line for line in starts}
    harm = [line for line in starts if line["kind"] in history.guilty]
    for task in history.tasks.values():
        quarantined, last = task["error_name"] == "Quarantined", began.get((task["id"], task["claim"]))
        if task["kind"] in history.guilty:
            if not quarantined and task["state"] != State.CANCELLED:
                yield f"task {task['id']} ({task['kind']}) harms its workers and is {task['state']} ({task['error_name']})"
        elif quarantined and last and any(_harmed(last, line) for line in harm):
            yield f"task {task['id']} ({task['kind']}) was quarantined for the crash of another"


def _harmed(victim: Fields, harm: Fields) -> bool:
    """Whether the one was under way in the same process when the other began."""
    return bool(victim["pid"] == harm["pid"] and victim["at"] <= harm["at"] <= victim["at"] + MARGIN_US)


def nothing_was_observed(history: History) -> Iterator[str]:
    yield from history.observed


CHECKS: tuple[Check, ...] = (
    every_root_is_there,
    every_task_has_ended,
    every_child_is_there_once,
    claims_rise_one_by_one,
    one_ending_is_final,
    every_record_is_counted_once,
    only_what_was_performed_was_accepted,
    nobody_performs_a_claim_twice,
    no_zombie_was_heard,
    slots_hold,
    rates_hold,
    lineages_are_bounded,
    budgets_add_up,
    gates_are_empty,
    nothing_was_repaired,
    long_keys_fail_alone,
    only_bad_children_are_invalid,
    quarantine_finds_the_guilty,
    nothing_was_observed,
)


def violations(history: History, checks: Iterable[Check] = CHECKS) -> list[str]:
    """One sentence for each thing that should never have happened."""
    began = history.began()
    for attempt in history.attempts:
        attempt["began"] = began.get((attempt["task_id"], attempt["claim"]))
    return [f"{check.__name__}: {sentence}" for check in checks for sentence in check(history)]
