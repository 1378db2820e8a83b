"""One call to each vendor, over loopback, to the practice web."""

import asyncio
from dataclasses import dataclass
from typing import Any

from thresher.ai.provider import CallFailed, Message, ModelCall, ModelReply
from thresher.ai.providers import open_provider
from thresher.config.models import Thinker
from thresher.practice.web import PracticeWeb

HOST = "127.0.0.1"
KEY = "sk-live-0123456789abcdef"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "What it is called"},
        "price": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title", "price", "tags"],
    "additionalProperties": False,
}
PROMPT = "Read this.\ntitle: Bridge Keeper\nprice: €52.00\ntags: steel, river"


@dataclass(frozen=True)
class Vendor:
    kind: str
    base: str
    model: str

    def __str__(self) -> str:
        return f"{self.kind}-{self.model}"


OPENAI = Vendor("openai", "/v1", "practice-small")
ANTHROPIC = Vendor("anthropic", "", "claude-sonnet-5")
TOOLED = Vendor("anthropic", "", "claude-3-haiku-20240307")
GOOGLE = Vendor("google", "", "gemini-2.5-flash")
VENDORS = (OPENAI, ANTHROPIC, TOOLED, GOOGLE)


def ask(
    web: PracticeWeb | str,
    vendor: Vendor,
    prompt: str = PROMPT,
    *,
    key: str | None = KEY,
    key_name: str | None = None,
    model: str | None = None,
    most: int = 500,
    seconds: float = 20.0,
    turns: tuple[Message, ...] = (),
    schema: dict[str, Any] = SCHEMA,
) -> ModelReply:
    """The reply to one call; raises what the provider raises."""
    address = web if isinstance(web, str) else web.url
    thinker = Thinker("thinker", vendor.kind, key, f"{address}{vendor.base}", key_name=key_name)
    call = ModelCall(
        model or vendor.model, "You read pages.", (Message(prompt), *turns), schema, most, seconds
    )

    async def once() -> ModelReply:
        provider = open_provider(thinker)
        try:
            return await provider.complete(call)
        finally:
            await provider.close()

    return asyncio.run(once())


def failure(web: PracticeWeb | str, vendor: Vendor, **more: Any) -> CallFailed:
    try:
        reply = ask(web, vendor, **more)
    except CallFailed as failed:
        return failed
    raise AssertionError(f"the call was answered: {reply}")
