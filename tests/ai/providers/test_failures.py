"""Every way a call can fail, at every vendor: the right error, the right blame, whether it may have cost
something, and no second try."""

import json
import logging
import socket
import traceback
from collections.abc import Iterator

import pytest

from tests.ai.providers.scene import GOOGLE, HOST, KEY, OPENAI, VENDORS, Vendor, failure
from thresher.ai.provider import CallFailed
from thresher.core.errors import (
    BudgetExhausted,
    ConnectionFailed,
    Permanent,
    RateLimited,
    ServerError,
    TaskError,
    TimedOut,
    TooLarge,
    Unauthorized,
)
from thresher.practice.web import Knob, PracticeWeb, Trouble

each_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=str)


def kind_of(failed: CallFailed) -> tuple[type[TaskError], bool]:
    assert failed.problem.gate == "source:thinker"
    return type(failed.problem), failed.billed


@pytest.mark.promise(15)
@each_vendor
@pytest.mark.parametrize(
    ("knob", "error", "billed"),
    [
        pytest.param(Knob(Trouble.STATUS, status=400), Permanent, False, id="400"),
        pytest.param(Knob(Trouble.STATUS, status=401), Unauthorized, False, id="401"),
        pytest.param(Knob(Trouble.STATUS, status=403), Unauthorized, False, id="403"),
        pytest.param(Knob(Trouble.STATUS, status=402), BudgetExhausted, False, id="402"),
        pytest.param(Knob(Trouble.STATUS, status=404), Permanent, False, id="404"),
        pytest.param(Knob(Trouble.STATUS, status=408), TimedOut, False, id="408"),
        pytest.param(Knob(Trouble.STATUS, status=409), Permanent, False, id="409"),
        pytest.param(Knob(Trouble.STATUS, status=413), TooLarge, False, id="413"),
        pytest.param(Knob(Trouble.STATUS, status=422), Permanent, False, id="422"),
        pytest.param(Knob(Trouble.RATE_LIMITED), RateLimited, False, id="429"),
        pytest.param(Knob(Trouble.STATUS, status=500), ServerError, False, id="500"),
        pytest.param(Knob(Trouble.STATUS, status=502), ServerError, False, id="502"),
        pytest.param(Knob(Trouble.STATUS, status=503), ServerError, False, id="503"),
        pytest.param(Knob(Trouble.STATUS, status=504), ServerError, True, id="504"),
        pytest.param(Knob(Trouble.STATUS, status=529), ServerError, False, id="529"),
        pytest.param(
            Knob(Trouble.RATE_LIMITED, status=503, seconds=9), RateLimited, False, id="503 with Retry-After"
        ),
        pytest.param(
            Knob(Trouble.RATE_LIMITED, status=529, seconds=9), RateLimited, False, id="529 with Retry-After"
        ),
        pytest.param(Knob(Trouble.QUOTA), BudgetExhausted, False, id="quota"),
        pytest.param(Knob(Trouble.TOO_LONG, number=5), TooLarge, False, id="too long"),
        pytest.param(Knob(Trouble.RESET), ConnectionFailed, True, id="reset"),
        pytest.param(Knob(Trouble.TRUNCATED), ConnectionFailed, True, id="truncated"),
        pytest.param(Knob(Trouble.CUT_CHUNKS), ConnectionFailed, True, id="cut chunks"),
        pytest.param(Knob(Trouble.GARBAGE), ConnectionFailed, True, id="garbage"),
        pytest.param(Knob(Trouble.REDIRECT, text="/v1/elsewhere"), ServerError, True, id="redirect"),
        pytest.param(
            Knob(Trouble.BODY, text="this is no JSON", kind="application/json"),
            ServerError,
            True,
            id="no JSON",
        ),
        pytest.param(Knob(Trouble.BODY, text="<h1>Welcome</h1>"), ServerError, True, id="a page"),
        pytest.param(Knob(Trouble.BODY, text="", kind="application/json"), ServerError, True, id="nothing"),
    ],
)
def test_a_failure_is_understood_and_the_request_is_not_repeated(
    web: PracticeWeb, vendor: Vendor, knob: Knob, error: type, billed: bool
):
    web.turn(knob)
    assert kind_of(failure(web, vendor)) == (error, billed)
    assert len(web.log()) == 1


@each_vendor
@pytest.mark.parametrize("dated", [False, True], ids=["seconds", "a date"])
def test_retry_after_is_obeyed_in_both_forms(web: PracticeWeb, vendor: Vendor, dated: bool):
    web.turn(Knob(Trouble.RATE_LIMITED, seconds=120, dated=dated))
    failed = failure(web, vendor)
    assert isinstance(failed.problem, RateLimited)
    assert 100 < failed.problem.retry_after <= 120
    assert len(web.log()) == 1


def test_retry_after_may_be_in_milliseconds_and_a_hostile_one_is_bounded(web: PracticeWeb):
    waits = []
    for header in (
        "retry-after-ms: 1500",
        "retry-after: 99999999999999",
        "retry-after: -5",
        "retry-after: soon",
    ):
        web.reset()
        web.turn(Knob(Trouble.RATE_LIMITED), Knob(Trouble.HEADERS, text=header))
        problem = failure(web, OPENAI).problem
        assert isinstance(problem, RateLimited)
        waits.append(problem.retry_after)
    assert waits == [1.5, 86_400, 60, 60]


def test_one_vendor_says_in_the_body_how_long_to_wait(web: PracticeWeb):
    said = {
        "error": {
            "code": 429,
            "status": "RESOURCE_EXHAUSTED",
            "message": "Too many.",
            "details": [{"retryDelay": "39s"}],
        }
    }
    web.turn(Knob(Trouble.BODY, status=429, text=json.dumps(said), kind="application/json"))
    problem = failure(web, GOOGLE).problem
    assert isinstance(problem, RateLimited)
    assert problem.retry_after == 39


@each_vendor
def test_an_empty_account_closes_the_gate_for_an_hour_not_for_a_minute(web: PracticeWeb, vendor: Vendor):
    web.turn(Knob(Trouble.QUOTA))
    problem = failure(web, vendor).problem
    assert isinstance(problem, BudgetExhausted)
    assert problem.retry_after >= 3_600


@each_vendor
def test_an_unknown_model_is_named_with_its_provider(web: PracticeWeb, vendor: Vendor):
    failed = failure(web, vendor, model="no-such-model")
    assert kind_of(failed) == (Permanent, False)
    assert "thinker, asked for no-such-model" in str(failed)
    assert len(web.log()) == 1


@each_vendor
def test_a_refused_key_says_where_to_look(web: PracticeWeb, vendor: Vendor):
    failed = failure(web, vendor, key="revoked", key_name="THE_KEY")
    assert kind_of(failed) == (Unauthorized, False)
    assert "THE_KEY" in str(failed)


@each_vendor
def test_a_missing_key_is_named_and_nothing_is_sent(web: PracticeWeb, vendor: Vendor):
    failed = failure(web, vendor, key=None, key_name="THE_KEY")
    assert kind_of(failed) == (Unauthorized, False)
    assert "set the environment variable THE_KEY" in str(failed)
    assert web.log() == []


@each_vendor
def test_a_server_that_is_not_there_has_cost_nothing(vendor: Vendor):
    with socket.socket() as taken:
        taken.bind((HOST, 0))  # bound and not listening: nobody else can have the port
        assert kind_of(failure(f"http://{HOST}:{taken.getsockname()[1]}", vendor)) == (
            ConnectionFailed,
            False,
        )


@each_vendor
@pytest.mark.parametrize(
    "knob", [Knob(Trouble.HANG), Knob(Trouble.DRIP, seconds=600, number=200)], ids=["hangs", "trickles"]
)
def test_a_call_ends_in_time_and_may_have_been_billed(web: PracticeWeb, vendor: Vendor, knob: Knob):
    web.turn(knob)
    assert kind_of(failure(web, vendor, seconds=0.4)) == (TimedOut, True)
    assert len(web.log()) == 1


@pytest.mark.promise(18)
@each_vendor
@pytest.mark.parametrize(
    "knob",
    [
        pytest.param(Knob(Trouble.OVERSIZED, number=10_000_000), id="10 MB"),
        pytest.param(Knob(Trouble.OVERSIZED, number=10_000_000, status=500), id="10 MB of error"),
        pytest.param(Knob(Trouble.GZIP_BOMB, number=200_000_000), id="bomb"),
    ],
)
def test_a_hostile_answer_is_not_read_to_its_end(web: PracticeWeb, vendor: Vendor, knob: Knob):
    web.turn(knob)
    failed = failure(web, vendor)
    assert kind_of(failed) == (ServerError, True)
    assert len(str(failed)) < 600
    assert len(web.log()) == 1


@pytest.mark.promise(18)
@each_vendor
@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "7",
        "{}",
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": "x"}',
        '{"content": 5}',
        '{"candidates": [7]}',
        "[" * 100_000,
        '{"choices": [{"index": 0, "finish_reason": "stop", "message": null}]}',
    ],
    ids=range(11),
)
def test_an_answer_of_a_strange_shape_is_a_failure_like_any_other(
    web: PracticeWeb, vendor: Vendor, text: str
):
    web.turn(Knob(Trouble.BODY, text=text, kind="application/json"))
    assert kind_of(failure(web, vendor)) == (ServerError, True)
    assert len(web.log()) == 1


def _telling(failed: CallFailed) -> Iterator[str]:
    yield from (str(failed), repr(failed), repr(failed.problem), str(failed.problem))
    yield "".join(traceback.format_exception(failed))
    seen: BaseException | None = failed
    while seen := seen.__cause__ or seen.__context__:
        yield repr(seen)


@pytest.mark.promise(17)
@each_vendor
@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_a_key_is_never_told_though_the_vendor_repeats_it(
    web: PracticeWeb, vendor: Vendor, status: int, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    said = {
        "error": {"message": f"Incorrect API key provided: {KEY}", "type": "x", "code": status, "status": "x"}
    }
    web.turn(Knob(Trouble.BODY, status=status, text=json.dumps(said), kind="application/json"))
    failed = failure(web, vendor)
    assert not any(KEY in text for text in _telling(failed))
    assert KEY not in caplog.text


def test_a_vendors_words_are_quoted_short(web: PracticeWeb):
    said = {"error": {"message": "no\n" * 5_000, "type": "x", "code": "x"}}
    web.turn(Knob(Trouble.BODY, status=422, text=json.dumps(said), kind="application/json"))
    assert str(failure(web, OPENAI)).startswith(
        "thinker, asked for practice-small, rejects the question (422): no no no"
    )
    assert len(str(failure(web, OPENAI))) < 450
