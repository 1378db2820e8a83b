"""Google Gemini, by API key. Authentication through a cloud project is not supported."""

from collections.abc import Callable

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

from thresher.config.models import Thinker

ADDRESS = "https://generativelanguage.googleapis.com"
NO_KEY = "none"
MAX_UNIONS = None


def models(thinker: Thinker, client: httpx2.AsyncClient) -> Callable[[str], Model]:
    """Models by name. Address and key are always said: the environment must not lead the one to the other."""
    provider = GoogleProvider(
        api_key=thinker.key or NO_KEY, base_url=thinker.base_url or ADDRESS, http_client=client
    )
    return lambda name: GoogleModel(name, provider=provider)
