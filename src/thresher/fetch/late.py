"""A transport that is made when the first request goes out: its library takes half a second to load, and many
a worker never fetches.
"""

from collections.abc import Callable

from thresher.fetch.request import Bounds, Request, Response, Starting, Transport


class LateTransport:
    """Stands for the one that `make` will make."""

    def __init__(self, make: Callable[[], Transport]) -> None:
        self._make = make
        self._made: Transport | None = None

    async def send(self, request: Request, bounds: Bounds, starting: Starting | None = None) -> Response:
        self._made = self._made or self._make()
        return await self._made.send(request, bounds, starting)

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()
