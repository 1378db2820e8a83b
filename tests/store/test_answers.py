"""The same question is never paid for twice."""

import threading

import pytest

from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher.core.answer import ModelAnswer, Usage
from thresher.core.clock import SECOND
from thresher.core.errors import TooLarge
from thresher.core.evidence import Evidence, Place
from thresher.store import answers

EVIDENCE = Evidence({"title": Place("Pear", 3, 7), "price": Place("2", path="$.price"), "taste": None}, "abc")
ANSWER = ModelAnswer(
    {"title": "Pear", "price": 2, "taste": "sweet"}, EVIDENCE, Usage(2, 300, 40), 17, "gpt-x"
)


@pytest.mark.promise(14)
@pytest.mark.promise(15)
def test_an_answer_comes_back_as_it_was_kept_and_says_that_nothing_was_paid(store):
    assert answers.recall(store, "q") is None
    answers.keep(store, "q", "extract.3", ANSWER)
    found = answers.recall(store, "q")
    assert found == ModelAnswer(ANSWER.value, EVIDENCE, ANSWER.usage, 17, "gpt-x", cached=True)
    assert list(found.evidence.unverified()) == ["taste"]


@pytest.mark.promise(2)
def test_keeping_again_changes_nothing_and_the_first_answer_stands(store):
    answers.keep(store, "q", "extract.3", ANSWER)
    answers.keep(store, "q", "extract.3", ModelAnswer({"title": "Plum"}, Evidence(), Usage(), 99, "other"))
    assert answers.recall(store, "q").value["title"] == "Pear"


def test_an_answer_that_came_from_here_is_not_kept_under_another_question(store):
    answers.keep(store, "q", "p", ANSWER)
    answers.keep(store, "other", "p", answers.recall(store, "q"))
    assert answers.recall(store, "other") is None


def test_every_use_is_counted(store, clock):
    answers.keep(store, "q", "p", ANSWER)
    clock.advance(SECOND)
    for _ in range(3):
        answers.recall(store, "q")
    assert rows(store, "select hits, used_at - at from answers") == [(3, SECOND)]


def test_answers_to_a_prompt_can_be_forgotten_and_one_question_too(store):
    for question, prompt in (("a", "one"), ("b", "one"), ("c", "two"), ("d", "two")):
        answers.keep(store, question, prompt, ANSWER)
    assert answers.forget(store, prompt="one") == 2
    assert answers.forget(store, question="c") == 1
    assert answers.forget(store) == 0
    assert [bool(answers.recall(store, question)) for question in "abcd"] == [False, False, False, True]


@pytest.mark.promise(18)
def test_an_answer_that_is_too_large_is_refused_with_advice(store):
    with pytest.raises(TooLarge, match="smaller part"):
        answers.keep(
            store, "q", "p", ModelAnswer({"text": "x" * answers.MAX_ANSWER}, Evidence(), Usage(), 0, "m")
        )
    assert answers.recall(store, "q") is None


@pytest.mark.promise(19)
@pytest.mark.parametrize("text", ["\x00", "\ud800", "𝒳 \u2028 é", "'; drop table answers; --"])
def test_whatever_a_model_says_is_kept_by_both_databases(store, text):
    said = ModelAnswer({"t": text}, Evidence({"t": Place(text, 0, 1)}, text), Usage(), 0, text)
    answers.keep(store, text, text, said)
    found = answers.recall(store, text)
    assert (found.value, found.evidence) == (said.value, said.evidence)


@pytest.mark.promise(2)
@with_processes
def test_machines_that_keep_the_same_answer_at_once_keep_one(database):
    stores = [database.open() for _ in range(3)]
    threads = [threading.Thread(target=answers.keep, args=(store, "q", "p", ANSWER)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rows(stores[0], "select count(*) from answers") == [(1,)]
