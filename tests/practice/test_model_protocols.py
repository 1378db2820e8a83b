"""The other vendors' protocols, as their documentation has them: whole answers, streams, tools, errors."""

import json

import pytest

from tests.practice.browse import Got, get
from thresher.practice.web import Knob, PracticeWeb, Trouble

ANTHROPIC, GOOGLE = (
    "https://api.anthropic.com/v1/messages",
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash",
)
SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
    "additionalProperties": False,
}
PROMPT = "title: Bridge Keeper"


def claude(web: PracticeWeb, *, key: str = "k", url: str = ANTHROPIC, **more: object) -> Got:
    said = {
        "model": "claude-x",
        "max_tokens": 100,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": PROMPT}],
        **more,
    }
    return get(web, url, "POST", said, x_api_key=key, anthropic_version="2023-06-01")


def gemini(
    web: PracticeWeb, way: str = "generateContent", *, key: str = "k", url: str = GOOGLE, **more: object
) -> Got:
    said = {"contents": [{"role": "user", "parts": [{"text": PROMPT}]}], **more}
    return get(web, f"{url}:{way}", "POST", said, x_goog_api_key=key)


def events(got: Got) -> list[dict]:
    assert got.headers["content-type"].startswith("text/event-stream")
    return [
        json.loads(line.removeprefix("data: ")) for line in got.text.splitlines() if line.startswith("data: ")
    ]


FORMAT = {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
TOOL = {"tools": [{"name": "save", "input_schema": SCHEMA}], "tool_choice": {"type": "any"}}
CONFIG = {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}}


def test_a_message_is_answered_in_a_schema_or_by_a_tool(web: PracticeWeb):
    plain, tool = claude(web, **FORMAT).json, claude(web, **TOOL).json
    assert json.loads(plain["content"][0]["text"]) == {"title": "Bridge Keeper"}
    assert (plain["stop_reason"], tool["stop_reason"]) == ("end_turn", "tool_use")
    assert tool["content"][0]["input"] == {"title": "Bridge Keeper"}
    assert plain["usage"]["input_tokens"] > 0 < plain["usage"]["output_tokens"]


@pytest.mark.parametrize("more", [FORMAT, TOOL, {}], ids=["schema", "tool", "plain"])
def test_a_stream_of_events_adds_up_to_the_message(web: PracticeWeb, more: dict):
    whole = claude(web, **more).json
    seen = events(claude(web, stream=True, **more))
    assert [event["type"] for event in seen if not event["type"].startswith("content_block_d")] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    said = "".join(
        event["delta"].get("text") or event["delta"].get("partial_json")
        for event in seen
        if "delta" in event and "index" in event
    )
    block = whole["content"][0]
    assert (json.loads(said) if block["type"] == "tool_use" else said) == block.get(
        "input", block.get("text")
    )
    assert seen[-2]["delta"]["stop_reason"] == whole["stop_reason"]


def test_content_is_generated_in_a_schema_or_as_a_call_of_a_function(web: PracticeWeb):
    plain = gemini(web, **CONFIG).json
    assert json.loads(plain["candidates"][0]["content"]["parts"][0]["text"]) == {"title": "Bridge Keeper"}
    assert plain["candidates"][0]["finishReason"] == "STOP"
    usage = plain["usageMetadata"]
    assert (
        usage["totalTokenCount"]
        == usage["promptTokenCount"] + usage["candidatesTokenCount"] + usage["thoughtsTokenCount"]
    )
    tool = gemini(
        web, tools=[{"functionDeclarations": [{"name": "save", "parametersJsonSchema": SCHEMA}]}]
    ).json
    assert tool["candidates"][0]["content"]["parts"][0]["functionCall"] == {
        "name": "save",
        "args": {"title": "Bridge Keeper"},
    }
    (event,) = events(gemini(web, "streamGenerateContent?alt=sse", **CONFIG))
    assert event == plain


def test_types_may_be_written_in_capitals_and_null_as_a_flag(web: PracticeWeb):
    schema = {
        "type": "OBJECT",
        "properties": {"title": {"type": "STRING"}, "price": {"type": "STRING", "nullable": True}},
    }
    said = gemini(web, generationConfig={"responseSchema": schema}).json["candidates"][0]["content"]["parts"][
        0
    ]["text"]
    assert json.loads(said) == {"title": "Bridge Keeper", "price": None}


def test_each_protocol_says_in_its_own_words_that_it_was_cut_off_or_declines(web: PracticeWeb):
    web.turn(Knob(Trouble.CUT_SHORT, times=2), Knob(Trouble.REFUSAL, after=2))
    said = [
        claude(web, **FORMAT).json["stop_reason"],
        gemini(web, **CONFIG).json["candidates"][0]["finishReason"],
    ]
    said += [
        claude(web, **FORMAT).json["stop_reason"],
        gemini(web, **CONFIG).json["candidates"][0]["finishReason"],
    ]
    assert said == ["max_tokens", "MAX_TOKENS", "refusal", "SAFETY"]


def test_each_protocol_says_in_its_own_words_what_is_wrong(web: PracticeWeb):
    web.turn(Knob(Trouble.QUOTA, times=2), Knob(Trouble.TOO_LONG, number=1, after=2, times=2))
    said = [
        claude(web),
        gemini(web),
        claude(web),
        gemini(web),
        claude(web, key="revoked"),
        gemini(web, key="revoked"),
    ]
    said += [claude(web, model="no-such-x"), gemini(web, url=GOOGLE.replace("gemini-2.5-flash", "no-such-x"))]
    assert [(got.status, got.json["error"].get("type") or got.json["error"]["status"]) for got in said] == [
        (400, "invalid_request_error"),
        (429, "RESOURCE_EXHAUSTED"),
        (400, "invalid_request_error"),
        (400, "INVALID_ARGUMENT"),
        (401, "authentication_error"),
        (400, "INVALID_ARGUMENT"),
        (404, "not_found_error"),
        (404, "NOT_FOUND"),
    ]


@pytest.mark.parametrize(
    "body", [b"{", [1], {}, {"messages": [], "contents": []}, {"messages": [7], "contents": [7]}]
)
def test_a_request_that_is_none_is_refused_with_a_reason(web: PracticeWeb, body: object):
    one = get(web, ANTHROPIC, "POST", body, x_api_key="k", anthropic_version="2023-06-01")
    two = get(web, f"{GOOGLE}:generateContent", "POST", body, x_goog_api_key="k")
    assert (one.status, two.status in (200, 400)) == (400, True)
    assert get(web, ANTHROPIC, "POST", {}, x_api_key="k").status == 400


def test_a_bare_address_speaks_every_protocol_by_its_path(web: PracticeWeb):
    home = f"http://127.0.0.1:{web.port}"
    assert claude(web, url=f"{home}/v1/messages").status == 200
    assert gemini(web, url=f"{home}/v1/models/gemini-x").status == 200
    said = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    assert get(web, f"{home}/v1/chat/completions", "POST", said, Authorization="Bearer k").status == 200
    assert get(web, f"{home}/about").status == 200
