"""A model endpoint that speaks Google's protocol: `generateContent`, whole or as server-sent events, with
schemas and functions.
"""

import json
from typing import Any

from thresher.practice.web.answer import Json, WebRequest, WebResponse, data, made
from thresher.practice.web.draw import token
from thresher.practice.web.knob import Trouble
from thresher.practice.web.sites.instance import mapping, sequence
from thresher.practice.web.sites.thought import End, Fault, Thought, Wish, fault, think

TYPES = "type.googleapis.com/google.rpc."
# It thinks a little before it speaks, and that is paid for.
SILENT = 7


def site(ask: WebRequest) -> WebResponse:
    """`/v1/models/MODEL:generateContent` and `:streamGenerateContent?alt=sse`, also under `/v1beta`."""
    key = ask.headers.get("x-goog-api-key") or ask.query.get("key")
    if not key:
        return _problem(
            403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers. Please use an API key."
        )
    if key == "revoked":
        reason = {"@type": f"{TYPES}ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        return _problem(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", reason)
    match (ask.method, ask.parts):
        case ("POST", ("v1" | "v1beta", "models", name)) if name.endswith(
            (":generateContent", ":streamGenerateContent")
        ):
            model, _, way = name.rpartition(":")
            return _content(ask, model, streamed=way.startswith("stream"))
        case _:
            return _problem(404, "NOT_FOUND", "Requested entity was not found.")


def _problem(status: int, name: str, message: str, *details: dict[str, Any]) -> WebResponse:
    return data(
        {"error": {"code": status, "message": message, "status": name, "details": list(details)}}, status
    )


def _content(ask: WebRequest, model: str, *, streamed: bool) -> WebResponse:
    asked = ask.posted()
    if not isinstance(asked, dict) or not sequence(asked.get("contents")):
        return _problem(
            400, "INVALID_ARGUMENT", "* GenerateContentRequest.contents: contents is not specified"
        )
    tool = _tool(asked)
    wish = _wish(asked, model, tool)
    if stopped := fault(ask, wish):
        return _fault(stopped, wish)
    thought = think(ask, wish)
    said = _said_back(ask, tool, wish, thought)
    if not streamed:
        return data(said)
    return made(b"data: " + data(said).body + b"\r\n\r\n", "text/event-stream; charset=utf-8")


def _fault(stopped: Fault, wish: Wish) -> WebResponse:
    match stopped:
        case Fault.UNKNOWN_MODEL:
            return _problem(
                404,
                "NOT_FOUND",
                f"models/{wish.model} is not found for API version v1beta, or is not supported.",
            )
        case Fault.QUOTA:
            quota = {
                "@type": f"{TYPES}QuotaFailure",
                "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
            }
            return _problem(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota, please check your plan and billing details.",
                quota,
                {"@type": f"{TYPES}RetryInfo", "retryDelay": "39s"},
            )
        case Fault.TOO_LONG:
            words = f"The input token count ({wish.tokens}) exceeds the maximum number of tokens allowed."
            return _problem(400, "INVALID_ARGUMENT", words)


def _tool(asked: dict[str, Any]) -> dict[str, Any] | None:
    tools = [
        mapping(one)
        for each in sequence(asked.get("tools"))
        for one in sequence(mapping(each).get("functionDeclarations"))
    ]
    mode = mapping(mapping(asked.get("toolConfig")).get("functionCallingConfig")).get("mode")
    return tools[0] if tools and mode != "NONE" else None


def _wish(asked: dict[str, Any], model: str, tool: dict[str, Any] | None) -> Wish:
    config = mapping(asked.get("generationConfig"))
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    if tool:
        schema = tool.get("parametersJsonSchema") or tool.get("parameters")
    most = config.get("maxOutputTokens")
    said = "\n".join(_said(each) for each in asked["contents"])
    return Wish(
        model,
        _said(asked.get("systemInstruction")),
        said,
        schema if isinstance(schema, dict) else None,
        most if isinstance(most, int) else None,
    )


def _said(content: Json) -> str:
    return "\n".join(str(mapping(part).get("text", "")) for part in sequence(mapping(content).get("parts")))


def _said_back(ask: WebRequest, tool: dict[str, Any] | None, wish: Wish, thought: Thought) -> dict[str, Any]:
    reason = {End.DONE: "STOP", End.LENGTH: "MAX_TOKENS", End.REFUSED: "SAFETY"}[thought.end]
    candidate: dict[str, Any] = {"finishReason": reason, "index": 0}
    if thought.end is not End.REFUSED:
        part: dict[str, Any] = {"text": thought.words}
        if tool and thought.end is End.DONE and Trouble.NOT_JSON not in ask.twists:
            part = {"functionCall": {"name": tool.get("name", ""), "args": json.loads(thought.words)}}
        candidate["content"] = {"role": "model", "parts": [part]}
    usage = {
        "promptTokenCount": wish.tokens,
        "candidatesTokenCount": thought.tokens,
        "thoughtsTokenCount": SILENT,
        "totalTokenCount": wish.tokens + thought.tokens + SILENT,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": wish.model,
        "responseId": token(ask.seed, wish.prompt, size=20),
    }
