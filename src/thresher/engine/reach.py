"""How far a worker reaches: the hands it lends to its stages. What is None, this worker cannot do."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.ai.switchboard import Switchboard
from thresher.fetch.fetcher import Fetcher

if TYPE_CHECKING:
    from thresher.ai.ask import Advisor


@dataclass(frozen=True, slots=True)
class Reach:
    """The way out to the web, who asks the models, and the lines to them. It belongs to one event loop and is closed there."""

    fetcher: Fetcher | None = None
    advisor: "Advisor | None" = None
    switchboard: Switchboard | None = None

    async def close(self) -> None:
        if self.fetcher:
            await self.fetcher.close()
        if self.switchboard:
            await self.switchboard.close()
