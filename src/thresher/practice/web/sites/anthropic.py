"""A model endpoint that speaks Anthropic's protocol: messages, whole or as server-sent events, with tools and
output schemas.
"""

import json
from collections.abc import Iterator
from typing import Any

from thresher.practice.web.answer import Json, WebRequest, WebResponse, data, made
from thresher.practice.web.draw import token
from thresher.practice.web.knob import Trouble
from thresher.practice.web.sites.instance import mapping, sequence
from thresher.practice.web.sites.thought import End, Fault, Thought, Wish, fault, think

PIECE = 24


def site(ask: WebRequest) -> WebResponse:
    """`/v1/messages`."""
    key = ask.headers.get("x-api-key") or ask.headers.get("authorization", "").removeprefix("Bearer ")
    if not key or key == "revoked":
        return _problem(401, "authentication_error", "invalid x-api-key")
    if (ask.method, ask.parts) != ("POST", ("v1", "messages")):
        return _problem(404, "not_found_error", "Not found")
    if "anthropic-version" not in ask.headers:
        return _problem(400, "invalid_request_error", "anthropic-version: header is required")
    return _messages(ask)


def _problem(status: int, kind: str, message: str) -> WebResponse:
    return data(
        {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_practice"}, status
    )


def _messages(ask: WebRequest) -> WebResponse:
    asked = ask.posted()
    if (
        not isinstance(asked, dict)
        or not sequence(asked.get("messages"))
        or not isinstance(asked.get("model"), str)
    ):
        return _problem(400, "invalid_request_error", "messages: at least one message is required")
    if not isinstance(asked.get("max_tokens"), int):
        return _problem(400, "invalid_request_error", "max_tokens: Field required")
    tool = _tool(asked)
    wish = _wish(asked, tool)
    if stopped := fault(ask, wish):
        return _fault(stopped, wish)
    thought = think(ask, wish)
    message = _message(ask, asked, tool, wish, thought)
    if asked.get("stream") is True:
        return made(b"".join(_events(message, thought)), "text/event-stream; charset=utf-8")
    return data(message)


def _fault(stopped: Fault, wish: Wish) -> WebResponse:
    match stopped:
        case Fault.UNKNOWN_MODEL:
            return _problem(404, "not_found_error", f"model: {wish.model}")
        case Fault.QUOTA:  # not a 402: an empty balance is a bad request there
            return _problem(
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the API. Please go to Plans & Billing.",
            )
        case Fault.TOO_LONG:
            return _problem(
                400, "invalid_request_error", f"prompt is too long: {wish.tokens} tokens > the maximum"
            )


def _tool(asked: dict[str, Any]) -> dict[str, Any] | None:
    tools = [mapping(each) for each in sequence(asked.get("tools")) if "input_schema" in mapping(each)]
    choice = mapping(asked.get("tool_choice"))
    if not tools or choice.get("type") == "none":
        return None
    return next((each for each in tools if each.get("name") == choice.get("name")), tools[0])


def _wish(asked: dict[str, Any], tool: dict[str, Any] | None) -> Wish:
    said = "\n".join(_said(mapping(each).get("content")) for each in asked["messages"])
    wanted = mapping(mapping(asked.get("output_config")).get("format")) or mapping(asked.get("output_format"))
    schema = mapping(tool.get("input_schema")) if tool else wanted.get("schema")
    return Wish(
        asked["model"],
        _said(asked.get("system")),
        said,
        schema if isinstance(schema, dict) else None,
        asked["max_tokens"],
    )


def _said(content: Json) -> str:
    if isinstance(content, list):
        return "\n".join(str(mapping(part).get("text", "")) for part in content)
    return str(content or "")


def _message(
    ask: WebRequest, asked: dict[str, Any], tool: dict[str, Any] | None, wish: Wish, thought: Thought
) -> dict[str, Any]:
    stop = {End.DONE: "end_turn", End.LENGTH: "max_tokens", End.REFUSED: "refusal"}[thought.end]
    block: dict[str, Any] = {"type": "text", "text": thought.words}
    if tool and thought.end is not End.REFUSED and Trouble.NOT_JSON not in ask.twists:
        # A tool's input is an object even where its words were cut off: then it has nothing in it.
        given = json.loads(thought.words) if thought.end is End.DONE else {}
        block = {
            "type": "tool_use",
            "id": f"toolu_{token(ask.seed, wish.prompt, size=24)}",
            "name": tool.get("name", ""),
            "input": given,
        }
        stop = "tool_use" if thought.end is End.DONE else stop
    content = [] if thought.end is End.REFUSED else [block]
    usage = {
        "input_tokens": wish.tokens,
        "output_tokens": thought.tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    return {
        "id": f"msg_{token(ask.seed, wish.prompt, size=24)}",
        "type": "message",
        "role": "assistant",
        "model": asked["model"],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }


def _events(message: dict[str, Any], thought: Thought) -> Iterator[bytes]:
    """The same message as events, a few words at a time."""
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield _event({"type": "message_start", "message": begun})
    for place, block in enumerate(message["content"]):
        tool = block["type"] == "tool_use"
        yield _event(
            {
                "type": "content_block_start",
                "index": place,
                "content_block": {**block, **({"input": {}} if tool else {"text": ""})},
            }
        )
        yield _event({"type": "ping"})
        for at in range(0, len(thought.words), PIECE):
            words = thought.words[at : at + PIECE]
            delta = (
                {"type": "input_json_delta", "partial_json": words}
                if tool
                else {"type": "text_delta", "text": words}
            )
            yield _event({"type": "content_block_delta", "index": place, "delta": delta})
        yield _event({"type": "content_block_stop", "index": place})
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event(
        {
            "type": "message_delta",
            "delta": ended,
            "usage": {"output_tokens": message["usage"]["output_tokens"]},
        }
    )
    yield _event({"type": "message_stop"})


def _event(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\ndata: ".encode() + data(value).body + b"\n\n"
