"""A model endpoint that speaks OpenAI's protocol and thinks by hash: the same prompt always gets the same answer.

Plain questions get a sentence made from the prompt. A JSON schema, in `response_format` or as a tool, gets an object that
fits it, with values taken from the prompt wherever it has a line such as `title: …`.
"""

import base64
import math
import re
import struct
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from thresher.practice.web.answer import Answer, Ask, Json, data, made
from thresher.practice.web.draw import Draw, token
from thresher.practice.web.knob import Trouble
from thresher.practice.web.sites.instance import instance, mapping, sequence

MODELS = ("practice-small", "practice-large")
DIMENSIONS = 64
MOST_DIMENSIONS = 3_072
MOST_INPUTS = 2_048
MOST_WORDS = 300
CREATED = 1_772_442_000
REFUSED = "I'm sorry, but I can't help with that."


def site(ask: Ask) -> Answer:
    """`/v1/chat/completions`, `/v1/embeddings`, `/v1/models`."""
    if not ask.headers.get("authorization", "").startswith("Bearer ") or ask.headers["authorization"] == "Bearer revoked":
        return _problem(401, "invalid_api_key", "Incorrect API key provided.")
    match (ask.method, ask.parts):
        case ("GET", ("v1", "models")):
            return data(
                {"object": "list", "data": [{"id": name, "object": "model", "created": CREATED, "owned_by": "practice"} for name in MODELS]}
            )
        case ("POST", ("v1", "chat", "completions")):
            return _chat(ask)
        case ("POST", ("v1", "embeddings")):
            return _embeddings(ask)
        case _:
            return _problem(404, "unknown_url", f"Unknown request URL: {ask.method} {ask.path}.")


def _problem(status: int, code: str, message: str) -> Answer:
    return data({"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}, status)


def _chat(ask: Ask) -> Answer:
    asked = ask.posted()
    if not isinstance(asked, dict) or not isinstance(asked.get("messages"), list) or not asked["messages"]:
        return _problem(400, "missing_required_parameter", "Missing required parameter: 'messages'.")
    if not isinstance(asked.get("model"), str):
        return _problem(400, "missing_required_parameter", "Missing required parameter: 'model'.")
    prompt = "\n".join(_said(each) for each in asked["messages"])
    message, reason = _message(ask, asked, prompt)
    number = f"chatcmpl-{token(ask.seed, prompt, size=24)}"
    if asked.get("stream") is True:
        return made(b"".join(_events(number, asked, message, reason, _usage(prompt, message))), "text/event-stream; charset=utf-8")
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return data({"id": number, "object": "chat.completion", "created": CREATED, "model": asked["model"], "choices": [choice],
                 "usage": _usage(prompt, message)})  # fmt: skip


def _said(message: Json) -> str:
    """The words of a message, whichever of its two forms it has."""
    content = mapping(message).get("content")
    if isinstance(content, list):
        return "\n".join(str(mapping(part).get("text", "")) for part in content)
    return str(content or "")


def _message(ask: Ask, asked: dict[str, Any], prompt: str) -> tuple[dict[str, Any], str]:
    """What the assistant says, and why it stopped."""
    if Trouble.REFUSAL in ask.twists:
        return {"role": "assistant", "content": None, "refusal": REFUSED}, "stop"
    draw = Draw(ask.seed, "model", prompt)
    tools = [tool for each in sequence(asked.get("tools")) if (tool := mapping(mapping(each).get("function")))]
    # A tool that was answered already is not called again: a loop would never end.
    answered = any(mapping(each).get("role") == "tool" for each in asked["messages"])
    if tools and not answered and asked.get("tool_choice") != "none":
        tool = _chosen(asked.get("tool_choice"), tools)
        words = _spoilt(ask, instance(draw, mapping(tool.get("parameters")), prompt))
        call = {"id": f"call_{token(ask.seed, prompt, 'call', size=20)}", "type": "function",
                "function": {"name": tool.get("name", ""), "arguments": words}}  # fmt: skip
        return {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None}, "tool_calls"
    schema = _schema(asked.get("response_format"))
    words = _spoilt(ask, instance(draw, schema, prompt)) if schema is not None else _sentence(draw, prompt)
    return {"role": "assistant", "content": words, "refusal": None}, "stop"


def _chosen(choice: Json, tools: list[dict[str, Any]]) -> dict[str, Any]:
    wanted = mapping(mapping(choice).get("function")).get("name")
    return next((each for each in tools if each.get("name") == wanted), tools[0])


def _schema(response_format: Json) -> dict[str, Any] | None:
    wanted = mapping(response_format)
    if wanted.get("type") == "json_object":
        return {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    found = mapping(wanted.get("json_schema")).get("schema")
    return found if isinstance(found, dict) else None


def _spoilt(ask: Ask, value: Json) -> str:
    words = data(value).body.decode()
    return f"Sure! Here it is:\n```json\n{words[: len(words) * 2 // 3]}" if Trouble.NOT_JSON in ask.twists else words


def _sentence(draw: Draw, prompt: str) -> str:
    words = re.findall(r"\w{4,}", prompt)
    if not words:
        return "There is nothing to say about that."
    return f"In short: {', '.join(dict.fromkeys(draw.pick(words).lower() for _ in range(6)))}."


def _usage(prompt: str, message: dict[str, Any]) -> dict[str, Any]:
    """Tokens by the rule of thumb: four characters each."""
    said = str(message.get("content") or message.get("tool_calls") or message.get("refusal"))
    before, after = -(-len(prompt) // 4), -(-len(said) // 4)
    return {"prompt_tokens": before, "completion_tokens": after, "total_tokens": before + after}


def _events(number: str, asked: dict[str, Any], message: dict[str, Any], reason: str, usage: dict[str, Any]) -> Iterator[bytes]:
    """The same answer as server-sent events, a few words at a time."""
    head = {"id": number, "object": "chat.completion.chunk", "created": CREATED, "model": asked["model"]}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for place, call in enumerate(message.get("tool_calls", ())):
        words = call["function"]["arguments"]
        deltas.append({"tool_calls": [{"index": place, **call, "function": {**call["function"], "arguments": ""}}]})
        deltas += [{"tool_calls": [{"index": place, "function": {"arguments": words[at : at + 24]}}]} for at in range(0, len(words), 24)]
    words = message.get("content") or ""
    deltas += [{"content": words[at : at + 24]} for at in range(0, len(words), 24)]
    if message.get("refusal"):
        deltas.append({"refusal": message["refusal"]})
    for delta in deltas:
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if mapping(asked.get("stream_options")).get("include_usage"):
        yield _event({**head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _event(value: Json) -> bytes:
    return b"data: " + data(value).body + b"\n\n"


def _embeddings(ask: Ask) -> Answer:
    asked = ask.posted()
    given = asked.get("input") if isinstance(asked, dict) else None
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not 0 < len(texts) <= MOST_INPUTS or not all(isinstance(each, str) for each in texts):
        return _problem(400, "invalid_input", f"'input' must be a string or a list of 1 to {MOST_INPUTS} strings.")
    size = asked.get("dimensions", DIMENSIONS)
    if not isinstance(size, int) or not 1 <= size <= MOST_DIMENSIONS:
        return _problem(400, "invalid_dimensions", f"'dimensions' must be a number from 1 to {MOST_DIMENSIONS}.")
    rows = [_vector(ask.seed, text, size) for text in texts]
    packed: list[Any] = (
        [base64.b64encode(struct.pack(f"<{size}f", *row)).decode() for row in rows] if asked.get("encoding_format") == "base64" else rows
    )
    tokens = sum(-(-len(text) // 4) for text in texts)
    return data({"object": "list", "model": asked.get("model"), "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
                 "data": [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(packed)]})  # fmt: skip


def _vector(seed: int, text: str, size: int) -> list[float]:
    """The sum of a direction for each word, so that texts which share words are near each other."""
    words = re.findall(r"\w+", text.lower())[:MOST_WORDS] or [""]
    total = [sum(each) for each in zip(*(_direction(seed, word, size) for word in words), strict=True)]
    length = math.sqrt(sum(each * each for each in total)) or 1.0
    return [round(each / length, 7) for each in total]


@lru_cache(4_096)
def _direction(seed: int, word: str, size: int) -> tuple[int, ...]:
    blocks = b"".join(blake2b(f"{seed}:{block}:{word}".encode()).digest() for block in range(-(-size // 32)))
    return struct.unpack(f"<{size}h", blocks[: 2 * size])
