"""One call to a vendor through its library. What differs by vendor is passed in."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from thresher.ai.provider import ModelCall, ModelReply, StopReason
from thresher.ai.providers import wire
from thresher.ai.providers.failure import failed
from thresher.config.models import Thinker
from thresher.core.answer import Usage

MAX_NAME = 200
ANSWER = "answer"

Maker = Callable[[Thinker, httpx2.AsyncClient], Callable[[str], Model]]

_STOPS = {"length": StopReason.LENGTH, "content_filter": StopReason.REFUSED}


class Vendor:
    """A provider by way of `pydantic_ai`. Its libraries are told to try once: whoever repeats a call pays for
    it.
    """

    def __init__(self, thinker: Thinker, maker: Maker, most_unions: int | None = None) -> None:
        """`most_unions`: in how many fields of a schema the vendor lets a value be null, if it counts
        them.
        """
        self._thinker, self._most_unions = thinker, most_unions
        self._client = wire.client(direct=thinker.private)
        self._model = lru_cache(16)(maker(thinker, self._client))

    @property
    def name(self) -> str:
        return self._thinker.name

    async def complete(self, call: ModelCall) -> ModelReply:
        wire.expect(call.most_output)
        try:
            # Around everything: the libraries' own limits are for each read, and a slow trickle passes them
            # all.
            async with asyncio.timeout(call.seconds):
                return _reply(call, await self._asked(call))
        except Exception as error:  # noqa: BLE001  whatever a library raises is a failure of this call, and only that
            failure = failed(error, self._thinker, call.model)
        raise failure  # outside the block: what the library raised holds the request, and with it the key

    async def _asked(self, call: ModelCall) -> ModelResponse:
        model = self._model(call.model)
        return await model_request(
            model,
            list(_messages(call)),
            model_settings=ModelSettings(max_tokens=call.most_output, timeout=call.seconds, max_retries=0),
            model_request_parameters=_shape(call, native=self._native(model, call)),
            instrument=False,
        )

    def _native(self, model: Model, call: ModelCall) -> bool:
        fits = self._most_unions is None or _unions(call.schema) <= self._most_unions
        return fits and bool(model.profile.get("supports_json_schema_output"))

    async def close(self) -> None:
        with suppress(RuntimeError):  # its loop is gone already, and its sockets with it
            await self._client.aclose()


def _messages(call: ModelCall) -> Iterator[ModelMessage]:
    for turn in call.turns:
        if turn.ours:
            yield ModelRequest(parts=[UserPromptPart(turn.text)], instructions=call.system)
        else:
            yield ModelResponse(parts=[TextPart(turn.text)])


def _shape(call: ModelCall, *, native: bool) -> ModelRequestParameters:
    """How the schema is asked for: of the model itself where it can, else as the one tool that it must
    call.
    """
    schema = dict(call.schema)
    if native:
        asked = OutputObjectDefinition(json_schema=schema, name=ANSWER, strict=True)
        return ModelRequestParameters(output_mode="native", output_object=asked)
    tool = ToolDefinition(
        name=ANSWER, description="The answer, in this shape.", parameters_json_schema=schema
    )
    return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def _unions(schema: Any) -> int:
    if isinstance(schema, list):
        return sum(_unions(each) for each in schema)
    return (
        ("anyOf" in schema) + sum(_unions(each) for each in schema.values())
        if isinstance(schema, Mapping)
        else 0
    )


def _reply(call: ModelCall, response: ModelResponse) -> ModelReply:
    called = next((part for part in response.parts if isinstance(part, ToolCallPart)), None)
    text = (
        called.args_as_json_str()
        if called
        else "".join(part.content for part in response.parts if isinstance(part, TextPart))
    )
    if not text and response.finish_reason is None:
        raise wire.UnreadableReply("it is empty")
    name = (response.model_name or call.model)[:MAX_NAME]
    return ModelReply(
        text, _usage(call, response, text), name, _STOPS.get(response.finish_reason or "", StopReason.DONE)
    )


def _usage(call: ModelCall, response: ModelResponse, text: str) -> Usage:
    """As the vendor counted, read from cache or thought in silence included. Who does not count is taken to
    have used the most.
    """
    used = response.usage
    if used.input_tokens <= 0:
        return Usage(1, call.size, max(used.output_tokens, min(call.most_output, len(text.encode()))))
    return Usage(1, used.input_tokens, max(used.output_tokens, 0))
