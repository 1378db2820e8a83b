"""A model endpoint that speaks OpenAI's protocol: chat completions, whole or streamed, embeddings, the list
of models. And a server that speaks every vendor's protocol, by path.

Plain questions get a sentence made from the prompt. A JSON schema, in `response_format` or as a tool, gets an
object that fits it. What is said there is thought in `thought.py`.
"""

import base64
import math
import re
import struct
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from thresher.practice.web.answer import Json, WebRequest, WebResponse, data, made
from thresher.practice.web.draw import token
from thresher.practice.web.sites import anthropic, gemini, home
from thresher.practice.web.sites.instance import mapping, sequence
from thresher.practice.web.sites.thought import MODELS, End, Fault, Thought, Wish, fault, think

DIMENSIONS = 64
MAX_DIMENSIONS = 3_072
MAX_INPUTS = 2_048
MAX_WORDS = 300
CREATED = 1_772_442_000


def site(ask: WebRequest) -> WebResponse:
    """`/v1/chat/completions`, `/v1/embeddings`, `/v1/models`."""
    if (
        not ask.headers.get("authorization", "").startswith("Bearer ")
        or ask.headers["authorization"] == "Bearer revoked"
    ):
        return _problem(401, "invalid_api_key", "Incorrect API key provided.")
    match (ask.method, ask.parts):
        case ("GET", ("v1", "models")):
            return data(
                {
                    "object": "list",
                    "data": [
                        {"id": name, "object": "model", "created": CREATED, "owned_by": "practice"}
                        for name in MODELS
                    ],
                }
            )
        case ("POST", ("v1", "chat", "completions")):
            return _chat(ask)
        case ("POST", ("v1", "embeddings")):
            return _embeddings(ask)
        case _:
            return _problem(404, "unknown_url", f"Unknown request URL: {ask.method} {ask.path}.")


def _problem(status: int, code: str, message: str, kind: str = "invalid_request_error") -> WebResponse:
    return data({"error": {"message": message, "type": kind, "param": None, "code": code}}, status)


def _chat(ask: WebRequest) -> WebResponse:
    asked = ask.posted()
    if not isinstance(asked, dict) or not isinstance(asked.get("messages"), list) or not asked["messages"]:
        return _problem(400, "missing_required_parameter", "Missing required parameter: 'messages'.")
    if not isinstance(asked.get("model"), str):
        return _problem(400, "missing_required_parameter", "Missing required parameter: 'model'.")
    tool = _tool(asked)
    wish = _wish(asked, mapping(tool.get("parameters")) if tool else _schema(asked.get("response_format")))
    if stopped := fault(ask, wish):
        return _fault(stopped, wish)
    thought = think(ask, wish)
    message, reason = _message(ask, tool, wish, thought)
    number = f"chatcmpl-{token(ask.seed, wish.prompt, size=24)}"
    if asked.get("stream") is True:
        return made(
            b"".join(_events(number, asked, message, reason, _usage(wish, thought))),
            "text/event-stream; charset=utf-8",
        )
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    return data(
        {
            "id": number,
            "object": "chat.completion",
            "created": CREATED,
            "model": asked["model"],
            "choices": [choice],
            "usage": _usage(wish, thought),
        }
    )


def _fault(stopped: Fault, wish: Wish) -> WebResponse:
    match stopped:
        case Fault.UNKNOWN_MODEL:
            return _problem(
                404,
                "model_not_found",
                f"The model `{wish.model}` does not exist or you do not have access to it.",
            )
        case Fault.QUOTA:
            words = "You exceeded your current quota, please check your plan and billing details."
            return _problem(429, "insufficient_quota", words, "insufficient_quota")
        case Fault.TOO_LONG:
            words = f"This model's maximum context length is shorter than your messages, which resulted in {wish.tokens} tokens."
            return _problem(400, "context_length_exceeded", words)


def _wish(asked: dict[str, Any], schema: dict[str, Any] | None) -> Wish:
    ours = [_said(each) for each in asked["messages"] if mapping(each).get("role") in ("system", "developer")]
    said = [
        _said(each) for each in asked["messages"] if mapping(each).get("role") not in ("system", "developer")
    ]
    most = asked.get("max_completion_tokens", asked.get("max_tokens"))
    return Wish(
        asked["model"], "\n".join(ours), "\n".join(said), schema, most if isinstance(most, int) else None
    )


def _said(message: Json) -> str:
    """The words of a message, whichever of its two forms it has."""
    content = mapping(message).get("content")
    if isinstance(content, list):
        return "\n".join(str(mapping(part).get("text", "")) for part in content)
    return str(content or "")


def _tool(asked: dict[str, Any]) -> dict[str, Any] | None:
    """The tool to be called. One that was answered already is not called again: a loop would never end."""
    tools = [
        tool for each in sequence(asked.get("tools")) if (tool := mapping(mapping(each).get("function")))
    ]
    answered = any(mapping(each).get("role") == "tool" for each in asked["messages"])
    if not tools or answered or asked.get("tool_choice") == "none":
        return None
    wanted = mapping(mapping(asked.get("tool_choice")).get("function")).get("name")
    return next((each for each in tools if each.get("name") == wanted), tools[0])


def _message(
    ask: WebRequest, tool: dict[str, Any] | None, wish: Wish, thought: Thought
) -> tuple[dict[str, Any], str]:
    """What the assistant says, and why it stopped."""
    if thought.end is End.REFUSED:
        return {"role": "assistant", "content": None, "refusal": thought.words}, "stop"
    if tool is None:
        return {
            "role": "assistant",
            "content": thought.words,
            "refusal": None,
        }, "length" if thought.end is End.LENGTH else "stop"
    call = {
        "id": f"call_{token(ask.seed, wish.prompt, 'call', size=20)}",
        "type": "function",
        "function": {"name": tool.get("name", ""), "arguments": thought.words},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None}
    return message, "length" if thought.end is End.LENGTH else "tool_calls"


def _schema(response_format: Json) -> dict[str, Any] | None:
    wanted = mapping(response_format)
    if wanted.get("type") == "json_object":
        return {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    found = mapping(wanted.get("json_schema")).get("schema")
    return found if isinstance(found, dict) else None


def _usage(wish: Wish, thought: Thought) -> dict[str, Any]:
    return {
        "prompt_tokens": wish.tokens,
        "completion_tokens": thought.tokens,
        "total_tokens": wish.tokens + thought.tokens,
    }


def _events(
    number: str, asked: dict[str, Any], message: dict[str, Any], reason: str, usage: dict[str, Any]
) -> Iterator[bytes]:
    """The same answer as server-sent events, a few words at a time."""
    head = {"id": number, "object": "chat.completion.chunk", "created": CREATED, "model": asked["model"]}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    for place, call in enumerate(message.get("tool_calls", ())):
        words = call["function"]["arguments"]
        deltas.append(
            {"tool_calls": [{"index": place, **call, "function": {**call["function"], "arguments": ""}}]}
        )
        deltas += [
            {"tool_calls": [{"index": place, "function": {"arguments": words[at : at + 24]}}]}
            for at in range(0, len(words), 24)
        ]
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


def _embeddings(ask: WebRequest) -> WebResponse:
    asked = ask.posted()
    given = asked.get("input") if isinstance(asked, dict) else None
    texts = [given] if isinstance(given, str) else given
    if (
        not isinstance(texts, list)
        or not 0 < len(texts) <= MAX_INPUTS
        or not all(isinstance(each, str) for each in texts)
    ):
        return _problem(
            400, "invalid_input", f"'input' must be a string or a list of 1 to {MAX_INPUTS} strings."
        )
    size = asked.get("dimensions", DIMENSIONS)
    if not isinstance(size, int) or not 1 <= size <= MAX_DIMENSIONS:
        return _problem(
            400, "invalid_dimensions", f"'dimensions' must be a number from 1 to {MAX_DIMENSIONS}."
        )
    rows = [_vector(ask.seed, text, size) for text in texts]
    packed: list[Any] = (
        [base64.b64encode(struct.pack(f"<{size}f", *row)).decode() for row in rows]
        if asked.get("encoding_format") == "base64"
        else rows
    )
    tokens = sum(-(-len(text) // 4) for text in texts)
    return data(
        {
            "object": "list",
            "model": asked.get("model"),
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            "data": [
                {"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(packed)
            ],
        }
    )


def _vector(seed: int, text: str, size: int) -> list[float]:
    """The sum of a direction for each word, so that texts which share words are near each other."""
    words = re.findall(r"\w+", text.lower())[:MAX_WORDS] or [""]
    total = [sum(each) for each in zip(*(_direction(seed, word, size) for word in words), strict=True)]
    length = math.sqrt(sum(each * each for each in total)) or 1.0
    return [round(each / length, 7) for each in total]


@lru_cache(4_096)
def _direction(seed: int, word: str, size: int) -> tuple[int, ...]:
    blocks = b"".join(blake2b(f"{seed}:{block}:{word}".encode()).digest() for block in range(-(-size // 32)))
    return struct.unpack(f"<{size}h", blocks[: 2 * size])


# A model server as people run one on their own machine: asked by its bare address, it speaks every vendor's
# protocol, by path.


def model_server(ask: WebRequest) -> WebResponse:
    """`/v1/messages`, `/v1/models/MODEL:…`, other `/v1/…`; everything else is the site that any name has."""
    match ask.parts:
        case ("v1", "messages", *_):
            return anthropic.site(ask)
        case ("v1beta", *_) | ("v1", "models", _):
            return gemini.site(ask)
        case ("v1", *_):
            return site(ask)
        case _:
            return home.site(ask)
