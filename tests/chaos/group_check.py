"""What should never have happened to groups: checked as in `history.py`, and with the same words."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.chaos.grouped import FOLLOWER, STATES
from tests.chaos.history import BROUGHT, Fields, History
from thresher.core.lineage import RefusalRule
from thresher.core.settlement import Ending
from thresher.core.task import TERMINAL, State

# How an attempt may end whose counts are added.
COUNTED = BROUGHT | {Ending.FAILED}


def every_group_has_ended(history: History) -> Iterator[str]:
    for group in history.groups.values():
        if (
            group["ended_at"] is None
            or group["live"]
            or group["open_groups"]
            or group["follow_up"] is not None
        ):
            yield f"{_name(group)} is open: {group['live']} live, {group['open_groups']} groups below, follow-up {group['follow_up']}"


def every_group_is_opened_once(history: History) -> Iterator[str]:
    """A group for each accepted attempt that wanted one, unless one of its key was open; and no other
    group."""
    wanted = Counter({(line["task"], line["group"]): 1 for line in _accepted(history) if line.get("group")})
    opened = Counter((group["opener_id"], group["key"]) for group in history.groups.values())
    refused = {
        refusal["parent_id"] for refusal in history.refusals if refusal["rule"] == RefusalRule.GROUP_OPEN
    }
    for task, key in wanted.keys() | opened.keys():
        if opened[task, key] != wanted[task, key] - (task in refused):
            yield f"task {task} wanted group {key} {wanted[task, key]} times and opened it {opened[task, key]} times"


def every_group_is_followed_once(history: History) -> Iterator[str]:
    followers = Counter(group["then_id"] for group in history.groups.values())
    for group in history.groups.values():
        task = history.tasks.get(group["then_id"])
        if (
            task is None
            or task["kind"] != FOLLOWER
            or task["parent_id"] != group["opener_id"]
            or task["group_id"] != group["parent_id"]
        ):
            yield f"{_name(group)} is followed by {task and (task['id'], task['kind'], task['parent_id'], task['group_id'])}"
    for task in history.tasks.values():
        if task["kind"] == FOLLOWER and followers[task["id"]] != 1:
            yield f"task {task['id']} follows {followers[task['id']]} groups"


def totals_add_up(history: History) -> Iterator[str]:
    """The numbers of a group are those of the tasks and refusals in it."""
    there: dict[int, Counter[str]] = defaultdict(Counter)
    for task in history.tasks.values():
        if task["group_id"]:
            there[task["group_id"]][task["state"] if task["state"] in TERMINAL else "live"] += 1
    opened = {group["opener_id"]: group["id"] for group in history.groups.values()}
    for refusal in history.refusals:
        parent = history.tasks[refusal["parent_id"]]
        group_id = opened.get(parent["id"], parent["group_id"])
        if group_id and refusal["kind"] != FOLLOWER and refusal["rule"] != RefusalRule.CANCELLED:
            there[group_id]["refused"] += 1
    for group in history.groups.values():
        counted = Counter({state: group[state] for state in STATES if group[state]})
        if counted != there[group["id"]]:
            yield f"{_name(group)} counts {dict(counted)}, and it has {dict(there[group['id']])}"


def counts_add_up(history: History) -> Iterator[str]:
    """What members and followers add to a counter is in it once."""
    added: dict[int, Counter[str]] = defaultdict(Counter)
    speaks = {group["opener_id"]: group["id"] for group in history.groups.values()}
    speaks |= {group["then_id"]: group["id"] for group in history.groups.values()}
    refused = {
        refusal["parent_id"] for refusal in history.refusals if refusal["rule"] == RefusalRule.GROUP_OPEN
    }
    for line in _accepted(history):
        group_id = speaks.get(line["task"], history.tasks[line["task"]]["group_id"])
        if group_id and not (line.get("group") and line["task"] in refused):
            added[group_id].update(line.get("counts", {}))
    for group_id, group in history.groups.items():
        if added[group_id] != history.counts.get(group_id, Counter()):
            yield f"{_name(group)} counts {dict(history.counts.get(group_id, {}))}; its members added {dict(added[group_id])}"


def followers_come_last(history: History) -> Iterator[str]:
    """Nothing of a group, nor of the groups below it, is performed and accepted after its follower has
    begun."""
    ended = {line["task"]: line["at"] for line in _accepted(history)}
    began: dict[int, int] = {}
    for line in history.effects:
        if line["phase"] == "start":
            began[line["task"]] = min(line["at"], began.get(line["task"], line["at"]))
    members = _members(history)
    for group in history.groups.values():
        start = began.get(group["then_id"])
        late = [
            member for member in members[group["id"]] if start is not None and ended.get(member, 0) > start
        ]
        if late:
            yield f"the follower of {_name(group)} began before members {late} had ended"


def followers_see_the_whole(history: History) -> Iterator[str]:
    """Every attempt of a follower has seen the group as it is in the end, with the groups below it."""
    below = _below(history)
    for line in history.effects:
        if line["phase"] != "saw":
            continue
        whole = {state: sum(history.groups[each][state] for each in below[line["group"]]) for state in STATES}
        saw = {state: line[state] for state in STATES}
        if history.groups.get(line["group"], {}).get("then_id") != line["task"] or saw != whole:
            yield f"task {line['task']} saw {saw} of group {line['group']}, which has {whole}"


# --- versions


def the_old_version_leaves_the_new_alone(history: History) -> Iterator[str]:
    """What an old worker does not know it neither claims nor performs, and it does not fail."""
    for attempt in history.attempts:
        task = history.tasks.get(attempt["task_id"])
        if (
            task
            and (task["kind"], attempt["stage"]) in history.newer
            and history.workers.get(attempt["worker_id"], "").endswith("-old")
        ):
            yield f"an old worker claimed task {task['id']} ({task['kind']}.{attempt['stage']}); it ended as {attempt['ending']}"
    for line in history.effects:
        if (
            line["phase"] == "start"
            and line["version"] == "old"
            and (line["kind"], line["stage"]) in history.newer
        ):
            yield f"an old worker performed task {line['task']} ({line['kind']}.{line['stage']})"
    kinds = {kind for kind, _ in history.newer} - history.guilty
    for task in history.tasks.values():
        if task["kind"] in kinds and task["state"] not in (State.SUCCEEDED, State.CANCELLED):
            yield f"task {task['id']} ({task['kind']}) is {task['state']} ({task['error_name']}): {task['reason']}"


def _accepted(history: History) -> list[Fields]:
    """The last lines of the attempts whose finds became fact; not of those that a person had cancelled before
    they could go on."""
    said, cancelled = (
        history.said(),
        {refusal["parent_id"] for refusal in history.refusals if refusal["rule"] == RefusalRule.CANCELLED},
    )
    found = (
        said.get((each["task_id"], each["claim"])) for each in history.attempts if each["ending"] in COUNTED
    )
    return [line for line in found if line and not (line["outcome"] == "Next" and line["task"] in cancelled)]


def _below(history: History) -> dict[int, list[int]]:
    """Each group, and all groups below it."""
    found: dict[int, list[int]] = defaultdict(list)
    for group_id in history.groups:
        above: int | None = group_id
        while above:
            found[above].append(group_id)
            above = history.groups[above]["parent_id"]
    return found


def _members(history: History) -> dict[int, list[int]]:
    own: dict[int, list[int]] = defaultdict(list)
    for task in history.tasks.values():
        own[task["group_id"]].append(task["id"])
    return defaultdict(
        list, {top: [task for each in below for task in own[each]] for top, below in _below(history).items()}
    )


def _name(group: Fields) -> str:
    return f"group {group['id']} ({group['key']} of task {group['opener_id']})"


GROUP_CHECKS = (
    every_group_has_ended,
    every_group_is_opened_once,
    every_group_is_followed_once,
    totals_add_up,
    counts_add_up,
    followers_come_last,
    followers_see_the_whole,
    the_old_version_leaves_the_new_alone,
)
