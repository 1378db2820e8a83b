"""OpenAI, and every server that speaks its API: a local model server, a router, a gateway."""

from collections.abc import Callable
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from thresher.config.models import Thinker

ADDRESS = "https://api.openai.com/v1"
# The library requires a key; local servers mostly do not.
NO_KEY = "none"
# Hosts that know the newer name of the output limit. Others may ignore it, and then nothing would limit the
# output.
_OWN = (".openai.com", ".openai.azure.com")
MAX_UNIONS = None


def models(thinker: Thinker, client: httpx2.AsyncClient) -> Callable[[str], Model]:
    """Models by name. The address is always said: the environment must not lead the key elsewhere."""
    address = thinker.base_url or ADDRESS
    sdk = AsyncOpenAI(api_key=thinker.key or NO_KEY, base_url=address, max_retries=0, http_client=client)
    if f".{urlsplit(address).hostname}".endswith(_OWN):
        return lambda name: OpenAIChatModel(name, provider=OpenAIProvider(openai_client=sdk))
    profile = OpenAIModelProfile(
        supports_json_schema_output=True, openai_chat_supports_max_completion_tokens=False
    )
    return lambda name: OpenAIChatModel(
        name, provider=OpenAICompatibleProvider(thinker.name, openai_client=sdk), profile=profile
    )
