"""Load a vendor's library on its first question, off the event loop: the import takes seconds."""

import asyncio
import importlib

from thresher.ai.provider import CallFailed, ModelCall, ModelReply, Provider
from thresher.config.models import Thinker
from thresher.core.compute import in_thread
from thresher.core.errors import Permanent, Unauthorized


class LateProvider:
    """Belongs to one event loop, like the connections it will have."""

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker
        self._loading = asyncio.Lock()
        self._vendor: Provider | None = None

    @property
    def name(self) -> str:
        return self._thinker.name

    async def complete(self, call: ModelCall) -> ModelReply:
        if self._thinker.keyless:
            raise _keyless(self._thinker)
        return await (await self._loaded()).complete(call)

    async def _loaded(self) -> Provider:
        async with self._loading:
            if self._vendor is None:
                try:
                    self._vendor = await in_thread(_vendor, self._thinker)
                except ImportError as problem:
                    says = (
                        f"the library for {self.name} cannot be loaded: {problem}; install it again "
                        "with: pip install 'thresher[ai]'"
                    )
                    raise CallFailed(Permanent(says, gate=self._thinker.gate), billed=False) from None
            return self._vendor

    async def close(self) -> None:
        if self._vendor is not None:
            await self._vendor.close()


def _vendor(thinker: Thinker) -> Provider:
    vendor = importlib.import_module("thresher.ai.providers.vendor")
    kind = importlib.import_module(f"thresher.ai.providers.{thinker.kind}")
    provider: Provider = vendor.Vendor(thinker, kind.models, kind.MAX_UNIONS)
    return provider


def _keyless(thinker: Thinker) -> CallFailed:
    """There is no key to call with: nothing was sent, and the gate closes until a person sets one."""
    todo = (
        f"set the environment variable {thinker.key_name}"
        if thinker.key_name
        else f'set models.providers.{thinker.name}.key in thresher.yaml, for example to "${{{thinker.kind.upper()}_API_KEY}}"'
    )
    return CallFailed(
        Unauthorized(f"{thinker.name} needs a key and has none; {todo}", gate=thinker.gate), billed=False
    )
