"""Anthropic. Newer models answer in a schema directly, older ones through a tool call."""

from collections.abc import Callable

import httpx2
from anthropic import AsyncAnthropic
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

from thresher.config.models import Thinker

ADDRESS = "https://api.anthropic.com"
NO_KEY = "none"
# A schema with more nullable fields than this is refused by the API, and is sent as a tool instead.
MAX_UNIONS = 16


def models(thinker: Thinker, client: httpx2.AsyncClient) -> Callable[[str], Model]:
    """Models by name. Address and key are always said: the environment must not lead the one to the other."""
    sdk = AsyncAnthropic(
        api_key=thinker.key or NO_KEY, base_url=thinker.base_url or ADDRESS, max_retries=0, http_client=client
    )
    return lambda name: AnthropicModel(name, provider=AnthropicProvider(anthropic_client=sdk))
