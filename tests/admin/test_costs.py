"""What a person sees of the money, on every database."""

import pytest

from tests.harness.tasks import change, claim, claim_one, done, entry, put, running, settle
from thresher.admin.costs import (
    GROUPS,
    NO_GROUP,
    WITH_REUSE,
    Left,
    check_ledger,
    dollars,
    estimate,
    expectation,
    list_calls,
    read_costs,
)
from thresher.config.settings import Settings
from thresher.core.answer import DOLLAR, ModelAnswer, Usage
from thresher.core.clock import DAY, HOUR, MINUTE, FrozenClock
from thresher.core.errors import UsageError
from thresher.core.evidence import Evidence
from thresher.core.extension import CheckLevel
from thresher.store import answers, ledger
from thresher.store.store import Store

NOON = 20_000 * DAY + 12 * HOUR  # 2024-10-04


@pytest.fixture
def clock():
    return FrozenClock(NOON)


def spend(
    store,
    cost,
    *,
    task=None,
    app="roles",
    model="mini",
    prompt="extract",
    question=None,
    most=1_000,
    subject=None,
):
    claim = (task.id, task.claim) if task else None
    asked = question or f"{cost}/{app}/{model}/{prompt}/{task and task.id}"
    hold = ledger.reserve(
        store,
        claim=claim,
        app=app,
        provider="openai",
        model=model,
        prompt=prompt,
        question=asked,
        most=most,
        caps=ledger.Caps.in_force(Settings()),
        expires_us=MINUTE,
        kind=task.kind if task else None,
        subject=subject,
    )
    assert isinstance(hold, ledger.Hold)
    if cost is not None:
        ledger.settle(store, hold, cost, Usage(1, 10 * cost, cost))
    return hold


def lines(store, by, *names, **how):
    return [tuple(line[name] for name in (by, *names)) for line in read_costs(store, by=by, **how).lines]


@pytest.mark.promise(20)
def test_what_was_spent_is_shown_by_whatever_one_wants_to_know_it_by(store, clock):
    task = running(store)
    spend(store, 100, task=task)
    spend(store, 50, app="prices", model="large", prompt="judge")
    clock.advance(DAY)
    spend(store, 7, task=task, question="later")
    assert lines(store, "day", "calls", "spent") == [("2024-10-05", 1, 7), ("2024-10-04", 2, 150)]
    assert lines(store, "app", "calls", "spent") == [("roles", 2, 107), ("prices", 1, 50)]
    assert lines(store, "model", "input_tokens", "output_tokens") == [
        ("openai/mini", 1_070, 107),
        ("openai/large", 500, 50),
    ]
    assert lines(store, "prompt", "spent") == [("extract", 107), ("judge", 50)]
    assert lines(store, "run", "spent") == [(task.id, 107), (0, 50)]
    assert lines(store, "task", "spent") == [(task.id, 107), (0, 50)]
    assert read_costs(store).total["spent"] == 157
    assert lines(store, "app", "spent", since_us=HOUR) == [("roles", 7)]
    assert lines(store, "app", "spent", limit=1) == [("roles", 107)]


def test_the_calls_of_a_task_and_of_a_run_are_found(store):
    root = running(store)
    spend(store, 1, task=root)
    settle(store, done(root, children=(entry("child"),)))
    child = claim_one(store)
    spend(store, 2, task=child)
    spend(store, 3)

    def costs(**of):
        return [each["spent"] for each in list_calls(store, **of)]

    assert (costs(), costs(run=root.id), costs(task=root.id), costs(task=child.id), costs(limit=1)) == (
        [3, 2, 1],
        [2, 1],
        [1],
        [2],
        [3],
    )


def test_costs_are_known_by_kind_and_by_what_they_were_for_when_the_task_is_long_gone(store):
    task = running(store, entry("item"))
    spend(store, 5, task=task, app="shop", subject="oak tables")
    spend(store, 7, task=task, app="shop", subject="x" * 500, question="long")
    spend(store, 2)
    settle(store, done(task))
    change(store, "delete from tasks")
    assert lines(store, "kind", "calls", "spent") == [("item", 2, 12), ("", 1, 2)]
    long = f"shop/{'x' * 200}"
    assert lines(store, "subject", "spent") == [(long, 7), ("shop/oak tables", 5), ("", 2)]
    assert [each["spent"] for each in list_calls(store, of={"subject": "shop/oak tables"})] == [5]
    assert [each["spent"] for each in list_calls(store, of={"kind": "item", "app": "shop"})] == [7, 5]


@pytest.mark.promise(20)
@pytest.mark.parametrize("by", GROUPS)
def test_every_line_of_costs_leads_to_the_calls_that_it_counts(store, clock, by):
    for number, task in enumerate((running(store, entry("item")), running(store, entry("list")))):
        spend(store, 5 + number, task=task, app=f"app{number}", subject="s" if number else None)
    clock.advance(DAY)
    spend(store, 1, model="large", prompt="judge")
    for name, calls, spent in lines(store, by, "calls", "spent"):
        found = list_calls(store, of={by: str(name or NO_GROUP)})
        assert (len(found), sum(each["spent"] for each in found)) == (calls, spent), name
    newest, *_ = list_calls(store)
    assert newest not in list_calls(store, before=newest["id"])


@pytest.mark.parametrize("wrong", [{"weather": "fine"}, {"task": "x"}, {"run": "9" * 30}, {"task": "-1"}])
def test_calls_of_no_possible_group_are_refused(store, wrong):
    with pytest.raises(UsageError):
        list_calls(store, of=wrong)


def test_what_is_under_way_and_what_was_only_assumed_is_told_apart(store, clock):
    spend(store, None, question="a")
    assert lines(store, "app", "calls", "spent", "reserved", "assumed") == [("roles", 1, 0, 1_000, 0)]
    clock.advance(HOUR)
    ledger.assume(store, 5)
    assert lines(store, "app", "calls", "spent", "reserved", "assumed") == [("roles", 1, 1_000, 0, 1_000)]


@pytest.mark.promise(15)
@pytest.mark.parametrize("by", list(WITH_REUSE))
def test_answers_that_were_used_again_are_counted_with_what_they_saved(store, by):
    spend(store, 40, question="q")
    answers.keep(store, "q", "extract", ModelAnswer({}, Evidence(), Usage(), 40, "mini-2026"))
    for _ in range(3):
        answers.recall(store, "q", app="roles")
    (line,) = read_costs(store, by=by).lines
    assert (line["calls"], line["spent"], line["reused"], line["saved"]) == (1, 40, 3, 120)
    assert read_costs(store).total["saved"] == 120


def test_a_day_on_which_nothing_had_to_be_paid_is_shown_too(store, clock):
    spend(store, 40, question="q")
    answers.keep(store, "q", "extract", ModelAnswer({}, Evidence(), Usage(), 40, "m"))
    clock.advance(DAY)
    answers.recall(store, "q", app="roles", run=5)
    assert lines(store, "day", "calls", "reused") == [("2024-10-05", 0, 1), ("2024-10-04", 1, 0)]
    assert lines(store, "run", "calls", "reused") == [(0, 1, 0), (5, 0, 1)]


@pytest.mark.promise(20)
def test_what_is_left_of_todays_caps_is_shown_for_all_and_for_each_app(make_store, clock):
    store = make_store(budget__day=0.002, budget__app=0.001)
    assert read_costs(store).today == [Left("day:2024-10-04", 2_000, 0, 0, 2_000)]
    spend(store, 300, app="roles")
    spend(store, None, app="a:b", most=999)
    assert read_costs(store).today == [
        Left("app:a:b:2024-10-04", 1_000, 0, 999, 1),
        Left("app:roles:2024-10-04", 1_000, 300, 0, 700),
        Left("day:2024-10-04", 2_000, 300, 999, 701),
    ]
    clock.advance(DAY)
    assert [each.left for each in read_costs(store).today] == [2_000]


def test_a_grouping_that_does_not_exist_is_refused_by_name(store):
    with pytest.raises(UsageError, match="day, app, model, prompt, kind, subject, run, task"):
        read_costs(store, by="colour")


@pytest.mark.promise(15)
def test_what_waits_is_estimated_by_what_ended_tasks_of_its_kind_cost(store):
    put(store, *(entry("page") for _ in range(5)))
    for task, cost in zip(claim(store, 2), (100, 300), strict=True):
        spend(store, cost, task=task)
        settle(store, done(task))
    (waiting,) = estimate(store)
    assert (waiting.kind, waiting.waiting, waiting.ended, waiting.each, waiting.total) == (
        "page",
        3,
        2,
        200,
        600,
    )
    spend(store, 999, task=claim_one(store))
    (waiting,) = estimate(store)
    assert (waiting.waiting, waiting.total) == (2, 400), "one that runs neither waits nor has ended"
    put(store, entry("rare"))
    assert [(each.kind, each.each, each.total) for each in estimate(store)] == [
        ("page", 200, 400),
        ("rare", None, None),
    ]


def test_an_estimate_says_what_nobody_knows_and_nothing_where_no_model_is_used(store):
    assert (estimate(store), expectation([])) == ([], None)
    put(store, entry("page"), entry("page"), entry("page"))
    assert expectation(estimate(store)) is None
    task = claim_one(store)
    spend(store, 30_000, task=task, most=30_000)
    settle(store, done(task))
    put(store, entry("rare"))
    assert expectation(estimate(store)) == (
        "The waiting tasks may cost about $0.06, judging by finished tasks of the same kind; "
        "unknown for rare."
    )


@pytest.mark.promise(15)
def test_the_doctor_says_whether_the_books_agree(store):
    spend(store, 40)
    assert [each.verdict for each in check_ledger(store)] == [CheckLevel.OK]
    change(store, "update budgets set spent = 7 where scope like 'day:%'")
    (found,) = check_ledger(store)
    assert (
        found.verdict,
        "day:2024-10-04 counts $0.000007 spent, but its calls cost $0.00004" in found.found,
    ) == (CheckLevel.WARN, True)


def test_the_doctor_leaves_the_books_of_an_older_schema_alone(database):
    backend = database.backend()
    backend.migrate(to=2)
    store = Store(backend)
    assert check_ledger(store) == []
    store.close()


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (0, "$0.00"),
        (1, "$0.000001"),
        (15_000, "$0.015"),
        (10_000, "$0.01"),
        (DOLLAR, "$1.00"),
        (1_234 * DOLLAR + 567_890, "$1,234.57"),
    ],
)
def test_amounts_are_written_as_people_write_them(amount, written):
    assert dollars(amount) == written
