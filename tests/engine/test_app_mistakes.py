"""Mistakes in the code of an app: told with the author's own file and line, and not tried again where the
same code would make the same mistake."""

import asyncio
import logging

import pytest

from tests.engine.workshop import one_stage
from tests.harness.databases import with_processes
from thresher import App, Context, Done, NewTask, Next, Outcome, Pipeline, Record, Stage, Transient

pytestmark = with_processes

HERE = "test_app_mistakes.py"


def raises(problem):
    def perform(ctx):
        raise problem

    return perform


def misspelt(ctx: Context) -> Outcome:
    return Doen()  # noqa: F821  as a beginner writes


def misspelt_context(ctx: Context) -> Outcome:
    return Done(note=ctx.taks.kind)


def missing_module(ctx: Context) -> Outcome:
    import no_such_module_anywhere  # noqa: PLC0415

    return Done(note=no_such_module_anywhere)


async def nothing(ctx: Context) -> Outcome:
    pass


def past_the_end(ctx: Context) -> Outcome:
    return Next({})


def unknown_kind(ctx: Context) -> Outcome:
    return Done(children=(NewTask("bok", key="Emma"),))


def unknown_setting(ctx: Context) -> Outcome:
    return Done(note=ctx.setting("no.such"))


def one_record(ctx: Context) -> Outcome:
    return Done(records=Record("book", "Emma"))


def one_child(ctx: Context) -> Outcome:
    return Done(children=NewTask("visit", key="Emma"))


def plain_dictionary(ctx: Context) -> Outcome:
    return Done(records=({"title": "Emma"},))


def data_is_text(ctx: Context) -> Outcome:
    return Done(records=(Record("book", "Emma", "474 pages"),))


@pytest.mark.promise(8)
@pytest.mark.promise(20)
@pytest.mark.parametrize(
    ("perform", "error", "says"),
    [
        (misspelt, "NameError", "return Doen()"),
        (misspelt_context, "AttributeError", "return Done(note=ctx.taks.kind)"),
        (missing_module, "ModuleNotFoundError", "import no_such_module_anywhere"),
        (raises(NotImplementedError("later")), "NotImplementedError", "raise problem"),
        (nothing, "InvalidOutcome", "returned None"),
        (past_the_end, "UsageError", "it is the last stage; return Done"),
        (unknown_kind, "UnknownName", "no app here knows tasks of kind 'bok'"),
        (unknown_setting, "UnknownName", "return Done(note=ctx.setting"),
        (one_record, "InvalidOutcome", "records must be a tuple of Record"),
        (one_child, "InvalidOutcome", "children must be a tuple of NewTask"),
        (plain_dictionary, "InvalidOutcome", "records must be a tuple of Record"),
        (data_is_text, "InvalidPayload", "data of record book/Emma must be a mapping"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_mistake_in_the_code_fails_at_once_and_says_where_it_is(workshop, perform, error, says):
    (task_id,) = workshop.drained(one_stage("visit", perform), NewTask("visit"))
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["error"], workshop.endings(task_id)) == ("failed", error, ["failed"])
    assert says in fields["reason"]
    assert f"{HERE}:" in fields["reason"]
    assert "site-packages" not in fields["reason"]
    assert "src/thresher" not in fields["reason"]


def look_up(page: dict[str, str]) -> str:
    return page["title"]


@pytest.mark.promise(8)
@pytest.mark.promise(20)
@pytest.mark.parametrize("is_async", [True, False])
def test_what_may_depend_on_the_page_is_tried_again_and_says_where_it_is(workshop, is_async):
    def plain(ctx):
        return Done(note=look_up({}))

    async def on_the_loop(ctx):
        return Done(note=look_up({}))

    (task_id,) = workshop.drained(one_stage("visit", on_the_loop if is_async else plain), NewTask("visit"))
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["error"]) == ("retryable", "KeyError")
    first, inner, outer = fields["reason"].splitlines()
    assert first == "'title'"
    assert (inner.split()[0], inner.endswith('in look_up: return page["title"]')) == ("at", True)
    assert (outer.split()[0], "look_up({})" in outer) == ("from", True)


@pytest.mark.promise(8)
@pytest.mark.parametrize(
    "problem", [AttributeError("by hand"), TypeError("x"), IndexError("x"), OSError("x"), AssertionError()]
)
def test_an_error_that_another_page_might_not_cause_is_tried_again(workshop, problem):
    (task_id,) = workshop.drained(one_stage("visit", raises(problem)), NewTask("visit"))
    assert workshop.state(task_id) == "retryable"


@pytest.mark.promise(8)
def test_a_page_without_what_was_looked_for_is_tried_again(workshop):
    def perform(ctx):
        title = None
        return Done(note=title.text)

    (task_id,) = workshop.drained(one_stage("visit", perform), NewTask("visit"))
    assert (workshop.state(task_id), workshop.fields(task_id)["error"]) == ("retryable", "AttributeError")


def test_an_error_raised_on_purpose_needs_no_traceback(workshop):
    (task_id,) = workshop.drained(
        one_stage("visit", raises(Transient("a ladder is missing"))), NewTask("visit")
    )
    assert workshop.fields(task_id)["reason"] == "a ladder is missing"


@pytest.mark.promise(8)
def test_a_single_error_of_a_task_group_is_judged_as_itself(workshop):
    async def perform(ctx):
        async with asyncio.TaskGroup() as group:
            group.create_task(give_up())
        return Done()

    async def give_up():
        raise Transient("a ladder is missing")

    (task_id,) = workshop.drained(one_stage("visit", perform), NewTask("visit"))
    assert workshop.fields(task_id)["error"] == "Transient"


def title_of(page: dict[str, str]) -> str:
    return page["title"]


def in_a_process(ctx: Context) -> Outcome:
    return Done(note=title_of({}))


async def computes(ctx: Context) -> Outcome:
    return Done(note=await ctx.compute(title_of, {}))


@pytest.mark.promise(20)
@pytest.mark.parametrize("stage", [Stage(computes), Stage(in_a_process, isolation="process")])
def test_an_error_in_another_process_says_where_it_was_raised_there(workshop, stage):
    app = App("test", pipelines=(Pipeline("visit", stage),))
    (task_id,) = workshop.drained(app, NewTask("visit"))
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["error"]) == ("retryable", "KeyError")
    assert 'in title_of: return page["title"]' in fields["reason"]
    assert f"in {stage.name}: " in fields["reason"]


@pytest.mark.promise(18)
def test_an_endless_recursion_leaves_a_short_message(workshop):
    def deeper(ctx):
        return deeper(ctx)

    (task_id,) = workshop.drained(one_stage("visit", deeper), NewTask("visit"))
    reason = workshop.fields(task_id)["reason"]
    assert (len(reason) < 2_001, len(reason.splitlines()) < 10, f"{HERE}:" in reason) == (True, True, True)


@pytest.mark.promise(17)
def test_a_secret_in_the_code_or_in_the_message_is_not_stored(workshop):
    def perform(ctx):
        login(password="hunter2", url="https://ann:hunter2@a.example/")

    def login(password, url):
        raise RuntimeError(f"cannot open {url} with token=hunter2")

    (task_id,) = workshop.drained(one_stage("visit", perform), NewTask("visit"))
    reason = workshop.fields(task_id)["reason"]
    assert "hunter2" not in reason
    assert "https://ann:***@a.example/" in reason


@pytest.mark.promise(20)
def test_an_unknown_source_is_told_in_one_sentence(workshop, caplog):
    def ask(ctx):
        return Done(children=(NewTask("book", key="Emma"),))

    app = App(
        "test",
        pipelines=(
            Pipeline("ask", Stage(ask)),
            Pipeline("book", Stage(lambda ctx: Done(), name="read", through=("source:shelves",))),
        ),
    )
    with caplog.at_level(logging.INFO, "thresher.worker"):
        (task_id,) = workshop.drained(app, NewTask("ask"))
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["error"]) == ("failed", "UnknownName")
    assert fields["reason"] == (
        "there is no source 'shelves'; declare it in the app (sources=(Source('shelves'),)) or run: "
        "thresher sources add shelves"
    )
    (told,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert (told.exc_info, "'shelves'" in told.getMessage()) == (None, True)
