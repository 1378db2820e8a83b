"""The model endpoint: OpenAI's protocol, answers that repeat themselves."""

import base64
import json
import struct

import pytest

from tests.practice.browse import Got, get
from thresher.practice.web import Knob, PracticeWeb, Trouble

URL = "https://model.practice.example/v1"
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"}, "salary": {"type": ["integer", "null"]}, "remote": {"type": "boolean"},
        "level": {"enum": ["junior", "senior"]}, "skills": {"type": "array", "items": {"$ref": "#/$defs/skill"}, "minItems": 2},
        "maybe": {"anyOf": [{"type": "null"}, {"type": "number"}]},
    },
    "required": ["title"], "$defs": {"skill": {"type": "object", "properties": {"name": {"type": "string"}}}},
}  # fmt: skip
PROMPT = "Read this.\ntitle: Bridge Keeper\nsalary: 52,000\nlevel: senior\nremote: yes"


def chat(web: PracticeWeb, prompt: str = PROMPT, **more: object) -> Got:
    said = {
        "model": "practice-small",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}],
        **more,
    }
    return get(web, f"{URL}/chat/completions", "POST", said, Authorization="Bearer key")


def structured(**more: object) -> dict:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "posting", "schema": SCHEMA, "strict": True}}, **more}


def test_without_a_key_nothing_is_answered(web: PracticeWeb):
    got = get(web, f"{URL}/models")
    assert (got.status, got.json["error"]["code"]) == (401, "invalid_api_key")


def test_the_same_prompt_gets_the_same_answer_and_another_prompt_another(web: PracticeWeb):
    first, again, other = chat(web), chat(web), chat(web, "Something else entirely")
    assert first.body == again.body
    assert first.json["choices"][0]["message"] != other.json["choices"][0]["message"]
    usage = first.json["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


def test_a_schema_is_filled_from_the_prompt(web: PracticeWeb):
    found = json.loads(chat(web, **structured()).json["choices"][0]["message"]["content"])
    assert (found["title"], found["salary"], found["level"], found["remote"]) == ("Bridge Keeper", 52_000, "senior", True)
    assert len(found["skills"]) == 2
    assert set(found) == set(SCHEMA["properties"])


def test_a_tool_is_called_once_with_arguments_that_fit(web: PracticeWeb):
    tools = [{"type": "function", "function": {"name": "save", "parameters": SCHEMA}}]
    choice = chat(web, tools=tools).json["choices"][0]
    (call,) = choice["message"]["tool_calls"]
    assert (choice["finish_reason"], call["function"]["name"]) == ("tool_calls", "save")
    assert json.loads(call["function"]["arguments"])["title"] == "Bridge Keeper"
    answered = [{"role": "user", "content": PROMPT}, choice["message"], {"role": "tool", "tool_call_id": call["id"], "content": "saved"}]
    said = {"model": "practice-small", "messages": answered, "tools": tools}
    after = get(web, f"{URL}/chat/completions", "POST", said, Authorization="Bearer key").json["choices"][0]
    assert after["finish_reason"] == "stop"


@pytest.mark.parametrize("more", [{}, structured(), {"tools": [{"type": "function", "function": {"name": "save", "parameters": SCHEMA}}]}])
def test_a_stream_adds_up_to_the_whole_answer(web: PracticeWeb, more: dict):
    whole = chat(web, **more).json["choices"][0]
    got = chat(web, stream=True, stream_options={"include_usage": True}, **more)
    assert got.headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in got.text.split("\n\n") if line]
    assert lines.pop() == "[DONE]"
    events = [json.loads(line) for line in lines]
    assert events.pop()["usage"]["total_tokens"] > 0
    deltas = [event["choices"][0]["delta"] for event in events]
    if whole["message"].get("tool_calls"):
        said = "".join(call["function"]["arguments"] for delta in deltas for call in delta.get("tool_calls", ()))
        assert said == whole["message"]["tool_calls"][0]["function"]["arguments"]
    else:
        assert "".join(delta.get("content") or "" for delta in deltas) == whole["message"]["content"]
    assert events[-1]["choices"][0]["finish_reason"] == whole["finish_reason"]


def test_embeddings_are_unit_vectors_and_near_where_words_are_shared(web: PracticeWeb):
    texts = ["senior python engineer", "python engineer", "pastry chef"]
    got = get(web, f"{URL}/embeddings", "POST", {"model": "e", "input": texts}, Authorization="Bearer key").json
    one, two, three = (row["embedding"] for row in got["data"])
    assert sum(each * each for each in one) == pytest.approx(1, abs=1e-4)
    near, far = (sum(a * b for a, b in zip(one, other, strict=True)) for other in (two, three))
    assert near > 0.6 > 0.4 > far


def test_embeddings_come_packed_when_asked(web: PracticeWeb):
    said = {"model": "e", "input": "ferry", "dimensions": 8}
    plain = get(web, f"{URL}/embeddings", "POST", said, Authorization="Bearer key").json["data"][0]["embedding"]
    packed = get(web, f"{URL}/embeddings", "POST", {**said, "encoding_format": "base64"}, Authorization="Bearer key").json["data"][0][
        "embedding"
    ]
    assert struct.unpack("<8f", base64.b64decode(packed)) == pytest.approx(plain)


def test_the_model_can_write_broken_json_and_decline(web: PracticeWeb):
    web.turn(Knob(Trouble.NOT_JSON, "model.practice.example", times=1), Knob(Trouble.REFUSAL, "model.practice.example", times=1, after=1))
    with pytest.raises(ValueError):
        json.loads(chat(web, **structured()).json["choices"][0]["message"]["content"])
    refused = chat(web, **structured()).json["choices"][0]["message"]
    assert refused["content"] is None
    assert refused["refusal"]
    assert json.loads(chat(web, **structured()).json["choices"][0]["message"]["content"])


@pytest.mark.parametrize(
    "said", [{}, {"model": "m"}, {"model": "m", "messages": []}, {"messages": [{"role": "user", "content": "x"}]}, [1], b"{"]
)
def test_a_request_that_is_none_is_refused_with_a_reason(web: PracticeWeb, said: object):
    got = get(web, f"{URL}/chat/completions", "POST", said, Authorization="Bearer key")
    assert (got.status, bool(got.json["error"]["message"])) == (400, True)
