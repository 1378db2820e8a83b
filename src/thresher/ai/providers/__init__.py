"""Model vendors behind the interface of `thresher.ai.provider`. A vendor's library is loaded on its first
question.
"""

from importlib.util import find_spec

from thresher.ai.provider import Provider
from thresher.ai.providers.late import LateProvider
from thresher.config.models import Thinker
from thresher.core.errors import ConfigError

LIBRARIES = {"anthropic": "anthropic", "google": "google.genai", "openai": "openai"}


def open_provider(thinker: Thinker) -> Provider:
    """The provider that the project file describes. Nothing is sent yet, and no key is needed until something
    is.
    """
    for library in ("pydantic_ai", LIBRARIES[thinker.kind]):
        if not _installed(library):
            raise ConfigError(
                f"models.providers.{thinker.name} needs {library}, which is not installed; install it with: pip install 'thresher[ai]'"
            )
    return LateProvider(thinker)


def _installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # not even the package it would stand in
        return False
