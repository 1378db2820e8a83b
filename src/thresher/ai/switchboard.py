"""The providers of a project, each opened when the first question goes to it: a vendor's library takes a second to load."""

from collections.abc import Iterator, Mapping

from thresher.ai.provider import Provider
from thresher.ai.providers import open_provider
from thresher.config.models import Models


class Switchboard(Mapping[str, Provider]):
    """By the names of the project file. It belongs to one event loop, and whoever has it closes it there."""

    def __init__(self, models: Models) -> None:
        self._thinkers = models.providers
        self._opened: dict[str, Provider] = {}

    def __getitem__(self, name: str) -> Provider:
        if name not in self._opened:
            self._opened[name] = open_provider(self._thinkers[name])
        return self._opened[name]

    def __contains__(self, name: object) -> bool:
        return name in self._thinkers  # without opening it

    def __iter__(self) -> Iterator[str]:
        return iter(self._thinkers)

    def __len__(self) -> int:
        return len(self._thinkers)

    async def close(self) -> None:
        for provider in self._opened.values():
            await provider.close()
