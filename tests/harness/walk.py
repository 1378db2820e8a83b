"""A random walk through everything that can happen to a queue, with every promise of the queue checked at
every step.

The walk keeps its own account of each task. It is driven by one seed, so a violation can be replayed.
"""

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.harness.gates import gate
from tests.harness.image import Image, look
from tests.harness.tasks import LEASE_US, entry, failed, retry, rows, told_to_wait, troubled, walled, worker
from thresher.core.clock import SECOND, FrozenClock
from thresher.core.gate import GateLimits
from thresher.core.settlement import Settlement
from thresher.core.task import TERMINAL, Task
from thresher.store import sources, tasks, workers
from thresher.store.lanes import serve
from thresher.store.repair import repair
from thresher.store.store import Store

STAGES = ("fetch", "extract")
MAX_LIVE = 60
MAX_REMEMBERED = 400


class Violation(AssertionError):
    """A promise was broken; the message says which, and how to see it again."""


@dataclass
class Account:
    """What the walk itself knows of a task."""

    claim: int = 0
    place: str = "waiting"
    cancelling: bool = False
    result: str | None = None


@dataclass
class Walk:
    """One walk over one database, from several machines."""

    machines: Sequence[Store]
    clock: FrozenClock
    seed: int
    repair_every: int = 10
    accounts: dict[int, Account] = field(default_factory=dict)
    held: dict[int, tuple[Task, int]] = field(default_factory=dict)
    zombies: deque[Task] = field(default_factory=lambda: deque(maxlen=30))
    starts: dict[str, list[int]] = field(default_factory=dict)
    diary: deque[str] = field(default_factory=lambda: deque(maxlen=40))

    def __post_init__(self) -> None:
        self.luck = random.Random(self.seed)
        store = self.machines[0]
        self.gates = [
            gate(store, f"source:{n}", **_as_words(self._limits())) for n in range(self.luck.randint(2, 6))
        ]
        self.lanes = [(), *(self._some_gates() for _ in range(self.luck.randint(2, 10)))]
        store.meet_lanes(("page", stage, gates) for stage in STAGES for gates in self.lanes)
        self.workers = [worker(store, f"w{n}") for n in range(3)]
        # One knows every stage, the others one each, as in the middle of an upgrade.
        with store.write() as session:
            self.scopes = [
                None,
                *(
                    serve(session, each, [("page", stage)])
                    for each, stage in zip(self.workers[1:], STAGES, strict=True)
                ),
            ]

    # What can happen.

    def run(self, steps: int) -> None:
        """Walk, checking after each step; then let everything drain."""
        for step in range(steps):
            name, act = self.luck.choices(*zip(*self._acts(), strict=True))[0]
            self.diary.append(f"{step}: {name}")
            act()
            self._check(step)
        self.drain()

    def _acts(self) -> list[tuple[tuple[str, Callable[[], None]], int]]:
        return [
            (("enqueue", self.enqueue), 12),
            (("claim", self.claim), 22),
            (("settle", self.settle), 22),
            (("turn", self.turn), 14),
            (("zombie", self.zombie), 4),
            (("time", self.pass_time), 14),
            (("pause", self.pause), 3),
            (("resume", self.resume), 4),
            (("limits", self.change_limits), 3),
            (("lose", self.lose_worker), 2),
            (("cancel", self.cancel), 3),
            (("revive", self.revive), 2),
        ]

    @property
    def store(self) -> Store:
        return self.luck.choice(self.machines)

    def _limits(self) -> GateLimits:
        luck = self.luck
        return GateLimits(
            max_in_flight=luck.choice((None, 1, 1, 2, 4)),
            interval_us=luck.choice((0, 0, 1_000, SECOND, 7 * SECOND)),
            burst=luck.choice((1, 1, 2, 5)),
            trip_after=luck.choice((None, 1, 3)),
            cooldown_us=luck.choice((SECOND, 20 * SECOND)),
        )

    def _some_gates(self) -> tuple[str, ...]:
        return tuple(self.luck.sample(self.gates, self.luck.randint(1, min(3, len(self.gates)))))

    def enqueue(self) -> None:
        if sum(account.place != "ended" for account in self.accounts.values()) >= MAX_LIVE:
            return
        wanted = [self._entry() for _ in range(self.luck.randint(1, 5))]
        for task_id in self.store.enqueue(wanted):
            self.accounts[task_id] = Account()

    def _entry(self):
        delay = self.luck.choice((0, 0, 0, 1, 3 * SECOND))
        return entry(
            gates=self.luck.choice(self.lanes),
            priority=self.luck.choice((0, 0, 1, 5)),
            delay_us=delay,
            stage=self.luck.choice(STAGES),
        )

    def claim(self) -> None:
        self._claim([], self.luck.randint(1, 8))

    def turn(self) -> None:
        plain = [each for each in self._answers(self.luck.randint(0, 4)) if each.is_plain]
        self._claim(plain, self.luck.randint(0, 6))

    def settle(self) -> None:
        answers = self._answers(self.luck.randint(1, 3))
        stale = self.store.settle(answers)
        self._must(not stale, f"the fence refused {stale}")
        for each in answers:
            self._settled(each)

    def zombie(self) -> None:
        """Somebody who lost the claim, or has settled it, answers once more."""
        if not self.zombies:
            return
        before = self._rows()
        late = self._answer(self.luck.choice(self.zombies))
        store = self.store
        stale = (
            store.turn([late], 0, 1).stale
            if late.is_plain and self.luck.random() < 0.5
            else store.settle([late])
        )
        self._must(stale == [late], f"the fence let {late} through")
        self._must(self._rows() == before, "a zombie has written something")

    def pass_time(self) -> None:
        self.clock.advance(self.luck.choice((1, 500, 1_000, SECOND, SECOND, 10 * SECOND, 60 * SECOND)))
        for worker_id in self.workers:
            self._must(workers.renew(self.store, worker_id).alive, "a living worker was given up")

    def pause(self) -> None:
        store, name = self.store, self.luck.choice(self.gates)
        if self.luck.random() < 0.2:
            sources.disable(store, name, "auth", "by the walk")
        else:
            sources.pause(store, name, self.luck.choice((0, 1, SECOND, 30 * SECOND)), "by the walk")

    def resume(self) -> None:
        sources.resume(self.store, self.luck.choice(self.gates))

    def change_limits(self) -> None:
        name = self.luck.choice(self.gates)
        sources.set_limits(self.store, name, self._limits())
        self.starts.pop(name, None)  # windows are reckoned anew from here

    def lose_worker(self) -> None:
        lost, *others = self.luck.sample(self.workers, len(self.workers))
        self.clock.advance(LEASE_US + 1)
        for worker_id in others:
            workers.renew(self.store, worker_id)
        mine = {task_id for task_id, (_, holder) in self.held.items() if holder == lost}
        given_back = 0
        while some := workers.reap(self.store, self.luck.randint(1, 5)):
            given_back += some
        self._must(given_back == len(mine), f"{given_back} of {len(mine)} tasks of a lost worker came back")
        for task_id in mine:
            task, _ = self.held.pop(task_id)
            self.zombies.append(task)
            ended = (
                task.crashes + 1 >= self.machines[0].rules.max_crashes or self.accounts[task_id].cancelling
            )
            self._put_down(task_id, ended=ended)
        self.workers[self.workers.index(lost)] = worker(self.store, "new")

    def cancel(self) -> None:
        if not self.accounts:
            return
        chosen = self.luck.sample(sorted(self.accounts), min(3, len(self.accounts)))
        found = tasks.cancel(self.store, chosen, "by the walk")
        for task_id in chosen:
            account = self.accounts[task_id]
            self._must(
                (task_id in found.cancelled) == (account.place == "waiting"),
                f"cancel of {task_id}: {account}",
            )
            self._must(
                (task_id in found.asked) == (account.place == "running"), f"cancel of {task_id}: {account}"
            )
            account.cancelling |= account.place == "running"
            account.place = "ended" if account.place == "waiting" else account.place

    def revive(self) -> None:
        ended = [task_id for task_id, account in self.accounts.items() if account.place == "ended"]
        for task_id in tasks.revive(self.store, self.luck.sample(ended, min(2, len(ended)))) if ended else ():
            self.accounts[task_id].place, self.accounts[task_id].cancelling = "waiting", False

    # Answers.

    def _answers(self, number: int) -> list[Settlement]:
        chosen = self.luck.sample(sorted(self.held), min(number, len(self.held)))
        return [self._answer(self.held[task_id][0]) for task_id in chosen]

    def _answer(self, task: Task) -> Settlement:
        luck = self.luck
        delay = luck.choice((0, 0, 1, SECOND))
        return luck.choices(
            [
                lambda: Settlement.done(task),
                lambda: retry(task, delay),
                lambda: Settlement.snooze(task, delay_us=delay, reason="later"),
                lambda: failed(task),
                lambda: Settlement.filtered(task, reason="no"),
                lambda: Settlement.hand_back(task, reason="stopping"),
                lambda: Settlement.cancelled(task, reason="stopped"),
                lambda: troubled(task) if task.lane else retry(task, delay),
                lambda: (
                    told_to_wait(task, luck.choice((SECOND, 5 * SECOND))) if task.lane else retry(task, delay)
                ),
                lambda: walled(task) if task.lane else retry(task, delay),
                lambda: Settlement.advance(
                    task, stage=luck.choice(STAGES), gates=luck.choice(self.lanes), checkpoint="{}"
                ),
                lambda: Settlement.done(
                    task, children=tuple(self._entry() for _ in range(luck.randint(1, 2)))
                ),
                lambda: Settlement.done(task, result=f"[{task.id}, {task.claim}]"),
            ],
            weights=[10, 5, 3, 3, 2, 3, 1, 5, 1, 0.3, 3, 2, 2],
        )[0]()

    def _settled(self, answer: Settlement) -> None:
        task, _ = self.held.pop(answer.task_id)
        self.zombies.append(task)
        self._put_down(
            answer.task_id, ended=answer.state in TERMINAL or self.accounts[answer.task_id].cancelling
        )
        self.accounts[answer.task_id].result = answer.result
        if answer.children:
            for (child,) in rows(
                self.machines[0], "select id from tasks where parent_id = :id", id=answer.task_id
            ):
                self.accounts.setdefault(child, Account())

    def _put_down(self, task_id: int, *, ended: bool) -> None:
        self.accounts[task_id].place = "ended" if ended else "waiting"

    def _claim(self, answers: list[Settlement], limit: int) -> bool:
        """One visit; whether another right now may bring more."""
        store, holder = self.store, self.luck.choice(self.workers)
        before = look(store)
        known = self.scopes[self.workers.index(holder)]
        turn = store.turn(answers, limit, holder, known)
        self._must(not turn.stale, f"the fence refused {turn.stale}")
        for each in answers:
            self._settled(each)
        self._must(len(turn.tasks) <= limit, f"{len(turn.tasks)} tasks where {limit} were wanted")
        after = look(store)
        started: dict[str, int] = {}
        for task in turn.tasks:
            self._start(task, holder, started)
        self._check_starts(started, before if not answers else None, after)
        if limit and not turn.more and len(turn.tasks) < limit:
            seen = after.of(known)
            self._must(
                not seen.claimable(), f"work was left: lanes {seen.claimable()} could start, {after.gates}"
            )
            opens = seen.next_opening()
            late = opens is not None and (turn.next_at is None or turn.next_at > opens)
            self._must(not late, f"told to sleep until {turn.next_at}, work can start at {opens}")
        return turn.more or bool(turn.tasks)

    def _start(self, task: Task, holder: int, started: dict[str, int]) -> None:
        account = self.accounts[task.id]
        number = self.workers.index(holder)
        stages = STAGES[number - 1 : number] or STAGES
        self._must(task.stage in stages, f"task {task.id} stands at {task.stage}, its worker knows {stages}")
        self._must(account.place == "waiting", f"task {task.id} was claimed while {account.place}")
        self._must(
            task.claim == account.claim + 1, f"task {task.id}: claim {task.claim} after {account.claim}"
        )
        account.place, account.claim = "running", task.claim
        self.held[task.id] = (task, holder)
        for name in tasks_gates(self.machines[0], task.id):
            started[name] = started.get(name, 0) + 1

    def _check_starts(self, started: dict[str, int], before: Image | None, after: Image) -> None:
        for name, number in started.items():
            gate, now = after.gates[name], after.now
            self._must(gate.open_after <= now, f"{number} started behind {name}, which is shut: {gate}")
            self._must(
                gate.max_in_flight is None or gate.in_flight <= gate.max_in_flight,
                f"{name} is overfull: {gate}",
            )
            if before is not None:
                allowed = before.gates[name].allowance(now)
                self._must(
                    number <= allowed,
                    f"{number} started behind {name}, {allowed} were allowed: {before.gates[name]}",
                )
            if gate.interval_us:
                self._check_window(name, gate.interval_us, gate.burst, [now] * number)

    def _check_window(self, name: str, interval: int, burst: int, times: list[int]) -> None:
        past = self.starts.setdefault(name, [])
        past += times
        del past[: -3 * burst - 20]
        for first, begin in enumerate(past):
            number, length = len(past) - first, past[-1] - begin
            self._must(
                number <= burst + length // interval, f"{number} starts behind {name} within {length} us"
            )

    # Checks.

    def _must(self, holds: object, says: str) -> None:
        if not holds:
            recent = "\n  ".join(self.diary)
            raise Violation(
                f"{says}\nseed {self.seed}: replay with THRESHER_MODEL_SEED={self.seed}\nthe last steps:\n  {recent}"
            )

    def _check(self, step: int) -> None:
        wrongs = list(look(self.machines[0]).wrongs())
        self._must(not wrongs, "; ".join(wrongs))
        if step % 25 == 0:
            self._compare_accounts()
        if step % self.repair_every == 0:
            self._check_repair()
        if len(self.accounts) > MAX_REMEMBERED:
            self._forget()

    def _check_repair(self) -> None:
        found = repair(self.machines[0])
        self._must(not found, f"repair found: {found}")

    def _rows(self) -> list[tuple]:
        tables = [
            rows(self.machines[0], f"select * from {table} order by id")
            for table in ("gates", "lanes", "tasks")
        ]
        return [
            *tables,
            *(rows(self.machines[0], f"select count(*) from {table}") for table in ("attempts", "results")),
        ]

    def _compare_accounts(self) -> None:
        places = {"pending": "waiting", "retryable": "waiting", "running": "running"}
        for task_id, state, claim in rows(self.machines[0], "select id, state, claim from tasks"):
            account = self.accounts.get(task_id)
            if account is not None:
                found = (places.get(state, "ended"), claim)
                self._must(
                    found == (account.place, account.claim), f"task {task_id} is {found}, expected {account}"
                )
        results = dict(rows(self.machines[0], "select task_id, value from results"))
        for task_id, account in self.accounts.items():
            self._must(
                results.get(task_id) == account.result,
                f"the result of task {task_id} is {results.get(task_id)}: {account}",
            )
        ((settled, claimed),) = rows(
            self.machines[0], "select (select count(*) from attempts), (select sum(claim) from tasks)"
        )
        self._must(
            settled + len(self.held) == (claimed or 0),
            f"{claimed} claims, {settled} settled, {len(self.held)} held",
        )

    def _forget(self) -> None:
        """Ended tasks need no account: what they were is in the database."""
        for task_id in [task_id for task_id, account in self.accounts.items() if account.place == "ended"]:
            del self.accounts[task_id]

    def drain(self) -> None:
        """Open everything and let the work run out: nothing may be left."""
        for name in self.gates:
            sources.resume(self.machines[0], name)
        for _ in range(20 * len(self.accounts) + 200):
            if not any(account.place != "ended" for account in self.accounts.values()):
                break
            if not self._claim([Settlement.done(task) for task, _ in self.held.values()], 50):
                self._sleep()
        left = {task_id: account for task_id, account in self.accounts.items() if account.place != "ended"}
        self._must(not left, f"not drained: {left} {look(self.machines[0])}")
        self._compare_accounts()
        self._check_repair()

    def _sleep(self) -> None:
        """As a worker does: until the time that the last visit named, and no longer."""
        next_at = self.machines[0].turn([], 1, self.workers[0])
        for task in next_at.tasks:
            self._start(task, self.workers[0], {})
        if next_at.next_at is not None and not next_at.tasks:
            self.clock.advance(max(1, next_at.next_at - self.clock.now()))


def tasks_gates(store: Store, task_id: int) -> list[str]:
    with store.read() as session:
        found = tasks.get(session, task_id)
    return list(found["gates"]) if found else []


def _as_words(limits: GateLimits) -> dict:
    words = {name: getattr(limits, name) for name in ("interval_us", "burst", "trip_after", "cooldown_us")}
    return words | {"slots": limits.max_in_flight}
