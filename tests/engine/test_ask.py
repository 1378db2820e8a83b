"""Asking a model through the engine: on both databases, over the real protocol, with real workers."""

from dataclasses import replace
from typing import Any

import pytest

from tests.engine.asking import GATE, ITEM, Study, dollars, models, page
from tests.engine.workshop import Workshop
from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher import BudgetExhausted, Done, NewTask, Page, Skipped
from thresher.admin import settings, sources
from thresher.config.models import Thinker, Tier
from thresher.core.clock import MINUTE, SystemClock
from thresher.core.evidence import Material
from thresher.practice.web import Knob, PracticeWeb, Trouble
from thresher.store import budgets
from thresher.store.sources import find_gates

pytestmark = with_processes


@pytest.fixture
def clock() -> SystemClock:
    """Real time: between two calls there is nothing else to wait for."""
    return SystemClock()


@pytest.fixture
def study(workshop: Workshop, web: PracticeWeb) -> Study:
    return Study(workshop, web)


def told(study: Study, task_id: int) -> tuple[str, str | None, int]:
    fields = study.shop.fields(task_id)
    return fields["state"], fields["reason"], fields["failures"]


def gate(study: Study) -> dict[str, Any]:
    with study.shop.store.read() as session:
        (found,) = find_gates(session, name=GATE)
    return found


def spent(study: Study) -> int:
    return int(rows(study.shop.store, "select coalesce(sum(spent), 0) from spendings")[0][0])


def test_a_stage_asks_and_gets_values_with_their_places(study: Study):
    seen = []

    async def look(ctx: Any) -> Done:
        seen.append(await ctx.ask("extract", ITEM, {"page": Material(page(7))}))
        return Done()

    study = Study(study.shop, study.web, look)
    registry = study.open()
    (task,) = study.ask(registry, 7)
    study.drain(registry)
    (answer,) = seen
    assert told(study, task)[0] == "succeeded"
    assert answer.value == {"title": "Table number 7", "price": "$170.00", "wood": "oak"}
    assert all(page(7)[place.start : place.end] == place.quote for place in answer.evidence.places.values())
    assert 0 < answer.cost == spent(study)


@pytest.mark.promise(15)
def test_the_same_question_is_never_paid_twice_whoever_asks_it(study: Study):
    registry = study.open()
    tasks = study.ask(registry, *([3] * 12))
    study.drain(registry, workers=3, patience=10)
    assert {told(study, task)[0] for task in tasks} == {"succeeded"}
    assert study.calls == 1
    again = study.ask(registry, 3)
    study.drain(registry)
    assert told(study, again[0])[1] == "Table number 3: again"
    assert study.calls == 1


@pytest.mark.promise(15)
@pytest.mark.promise(3)
def test_a_cap_of_the_day_holds_to_the_millionth_with_several_workers_and_closes_the_gate(study: Study):
    cap = 0.02
    registry = study.open(budget__day=cap, budget__app=cap, budget__run=cap, ai__output_limit=1_000)
    tasks = study.ask(registry, *range(40))
    study.drain(registry, workers=4)
    assert 0 < spent(study) <= dollars(cap)
    states = [told(study, task) for task in tasks]
    assert {state for state, _, _ in states} <= {"succeeded", "pending"}
    assert sum(state == "pending" for state, _, _ in states) > 0
    assert {failures for _, _, failures in states} == {0}
    assert study.calls == sum(state == "succeeded" for state, _, _ in states)


@pytest.mark.promise(15)
def test_raising_the_cap_opens_the_gate_that_it_closed(study: Study):
    registry = study.open(budget__day=0.0)
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    assert study.calls == 0
    assert gate(study)["closed_tag"] == "budget"
    assert "thresher config set budget.day" in (told(study, task)[1] or "")
    settings.set_setting(study.shop.store, "budget.day", "5", "anna")
    study.shop.store.project_settings = dict(study.shop.store.project_settings) | {"budget.day": 5.0}
    study.drain(study.open(budget__day=5.0))
    assert told(study, task)[0] == "succeeded"


def test_a_task_that_asks_outside_its_lane_does_not_sleep_on_until_midnight(study: Study):
    study = Study(study.shop, study.web, through=())
    registry = study.open(budget__day=0.0)
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    assert gate(study)["closed_tag"] == "budget"
    (waits,) = rows(study.shop.store, "select run_at - created_at from tasks where id = :id", id=task)[0]
    assert 0 < waits <= 16 * MINUTE


@pytest.mark.promise(15)
def test_the_cap_of_a_run_stops_that_run_alone(study: Study):
    registry = study.open(budget__run=0.0)
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    state, reason, failures = told(study, task)
    assert (state, failures, study.calls) == ("pending", 0, 0)
    assert "budget.run" in (reason or "")
    assert gate(study)["closed_tag"] is None


def one_by_one(budget: float, problems: list[BudgetExhausted]) -> Any:
    """The first task spawns the pages of its payload; each is read within one budget for all of them."""

    async def look(ctx: Any) -> Any:
        if numbers := ctx.task.payload.get("pages"):
            return Done(
                children=tuple(NewTask("read", {"page": page(each)}, key=str(each)) for each in numbers)
            )
        try:
            await ctx.ask("extract", ITEM, {"page": Material(ctx.task.payload["page"])}, budget=budget)
        except BudgetExhausted as problem:
            problems.append(problem)
            if not problem.own:
                raise
            return Skipped("the budget of this lineage is used up")
        return Done()

    return look


@pytest.mark.promise(15)
@pytest.mark.promise(3)
def test_a_budget_that_the_app_states_holds_to_the_millionth_with_several_workers(study: Study):
    problems: list[BudgetExhausted] = []
    study = Study(study.shop, study.web, one_by_one(0.02, problems))
    registry = study.open(ai__output_limit=1_000)
    (root,) = study.shop.put(registry, NewTask("read", {"pages": list(range(30))}))
    study.drain(registry, workers=4, patience=5)
    with study.shop.store.read() as session:
        cost = budgets.spent_by(session, root)
    assert 0 < cost == spent(study) <= dollars(0.02)
    states = [row[0] for row in rows(study.shop.store, "select state from tasks where id <> :id", id=root)]
    assert {*states} == {"succeeded", "skipped"}
    assert len(problems) == states.count("skipped")
    assert {(each.scope, each.own, each.gate) for each in problems} == {("run", True, None)}
    assert "its app set that limit" in str(problems[0])
    assert "config set" not in str(problems[0])
    assert gate(study)["closed_tag"] is None


@pytest.mark.promise(15)
@pytest.mark.parametrize(
    ("setting", "scope", "own"), [("budget.run", "run", False), ("budget.day", "day", False)]
)
def test_a_smaller_cap_than_the_apps_own_holds_and_is_not_taken_for_it(
    study: Study, setting: str, scope: str, own: bool
):
    problems: list[BudgetExhausted] = []
    study = Study(study.shop, study.web, one_by_one(1_000_000.0, problems))
    registry = study.open(**{setting.replace(".", "__"): 0.0})
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    assert (told(study, task)[0], study.calls) == ("pending", 0)
    assert (problems[0].scope, problems[0].own) == (scope, own)
    assert setting in str(problems[0])


def test_a_budget_of_one_lineage_leaves_others_alone(study: Study):
    problems: list[BudgetExhausted] = []
    study = Study(study.shop, study.web, one_by_one(0.01, problems))
    registry = study.open(ai__output_limit=1_000)
    tasks = study.ask(registry, *range(4))
    study.drain(registry)
    assert [told(study, task)[0] for task in tasks] == ["succeeded"] * 4
    assert spent(study) > 0
    assert problems == []


@pytest.mark.promise(15)
def test_a_budget_holds_where_a_page_is_extracted_and_an_answer_that_is_there_costs_nothing(study: Study):
    read = Page("https://a.example/1", "https://a.example/1", 200, {"content-type": "text/html"}, b"")
    budgets_tried = iter((0.0, 1.0, 0.0))
    heard: list[Any] = []

    async def look(ctx: Any) -> Done:
        shown = replace(read, body=f"<pre>{page(5)}</pre>".encode())
        for budget in budgets_tried:
            try:
                heard.append((await ctx.extract(shown, ITEM, budget=budget)).cost > 0)
            except BudgetExhausted as problem:
                heard.append(problem.own)
        return Done()

    study = Study(study.shop, study.web, look)
    registry = study.open()
    study.ask(registry, 5)
    study.drain(registry)
    assert heard == [True, True, False]
    assert study.calls == 1


@pytest.mark.parametrize("budget", [-1, float("nan"), float("inf"), "5", True, 2_000_000_000])
def test_what_is_no_budget_is_refused_before_anything_is_asked(study: Study, budget: Any):
    study = Study(study.shop, study.web, one_by_one(budget, []))
    registry = study.open()
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    state, reason, _ = told(study, task)
    assert (state, study.calls) == ("failed", 0)
    assert "budget must be 0 to" in (reason or "")


def test_a_provider_that_asks_for_patience_is_left_alone_and_no_failure_is_spent(study: Study):
    study.web.turn(Knob(Trouble.RATE_LIMITED, "*", times=1, seconds=600))
    registry = study.open()
    tasks = study.ask(registry, 1, 2, 3)
    study.drain(registry)
    assert study.calls <= 3
    assert gate(study)["closed_tag"] == "rate_limited"
    assert {told(study, task)[2] for task in tasks} == {0}
    sources.resume(study.shop.store, "practice")
    study.drain(registry)
    assert {told(study, task)[0] for task in tasks} == {"succeeded"}


def test_without_a_key_the_gate_is_closed_and_opens_by_itself_when_the_key_is_there(study: Study):
    study.models = models(study.web, key=None, key_name="PRACTICE_KEY")
    registry = study.open()
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    assert (gate(study)["closed_tag"], study.calls) == ("no_key", 0)
    assert "PRACTICE_KEY" in gate(study)["closed_reason"]
    assert told(study, task)[0] == "pending"
    study.models = models(study.web)
    study.drain(study.open())
    assert told(study, task)[0] == "succeeded"


def test_what_a_person_closed_stays_closed_however_many_keys_there_are(study: Study):
    study.open()
    sources.disable(study.shop.store, "practice", "too dear")
    study.open()
    assert gate(study)["closed_tag"] == "admin"


def test_a_stage_that_can_do_without_is_told_so(study: Study):
    async def look(ctx: Any) -> Done:
        return Done(note="asked" if await ctx.can_ask() else "by rules")

    study = Study(study.shop, study.web, look, through=())
    registry = study.open()
    (first,) = study.ask(registry, 1)
    study.drain(registry)
    sources.disable(study.shop.store, "practice", "closed")
    (second,) = study.ask(registry, 1)
    study.drain(registry)
    assert [told(study, task)[1] for task in (first, second)] == ["asked", "by rules"]


def test_without_any_model_a_task_waits_and_says_what_to_do(study: Study):
    study.models = type(study.models)()
    registry = study.open()
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    state, reason, failures = told(study, task)
    assert (state, failures) == ("pending", 0)
    assert "add models: to thresher.yaml" in (reason or "")


@pytest.mark.promise(15)
def test_a_model_whose_price_nobody_knows_is_not_asked_and_the_task_waits(study: Study):
    tiers = dict.fromkeys(("cheap", "strong"), Tier("vendor", "no-such-model"))
    study.models = replace(
        study.models, providers={"vendor": Thinker("vendor", "openai", "key")}, tiers=tiers
    )
    registry = study.open()
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    state, reason, failures = told(study, task)
    assert (state, failures, study.calls) == ("pending", 0, 0)
    assert "no price is known for vendor/no-such-model" in (reason or "")


@pytest.mark.promise(15)
def test_a_model_that_answers_nonsense_is_not_asked_for_ever(study: Study):
    study.web.turn(Knob(Trouble.NOT_JSON, "*"))
    registry = study.open(ai__repairs=2)
    (task,) = study.ask(registry, 1)
    study.drain(registry)
    assert told(study, task)[0] == "failed"
    assert 1 < study.calls <= 3
