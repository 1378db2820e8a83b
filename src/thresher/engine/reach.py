"""How far a worker reaches: the hands it lends to its stages. What is None, this worker cannot do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thresher.ai.provider import Provider
from thresher.engine.process_pool import ProcessPool
from thresher.fetch.fetcher import Fetcher
from thresher.notify.notifier import Notifier

if TYPE_CHECKING:
    from thresher.ai.ask import Advisor


@dataclass(frozen=True, slots=True)
class Reach:
    """The way out to the web, who asks the models, their providers, who tells people, and the processes that
    read pages.

    It belongs to one event loop and is closed there.
    """

    fetcher: Fetcher | None = None
    advisor: "Advisor | None" = None
    providers: Mapping[str, Provider] = field(default_factory=dict)
    notifier: Notifier | None = None
    pool: ProcessPool = field(default_factory=ProcessPool)
    stage_pool: ProcessPool = field(
        default_factory=ProcessPool
    )  # a stage may take long, and reading must not wait for it

    async def close(self) -> None:
        if self.fetcher:
            await self.fetcher.close()
        for provider in self.providers.values():
            await provider.close()
        await self.pool.close()
        await self.stage_pool.close()
