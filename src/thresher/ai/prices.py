"""Prices and terms of a call: its maximum cost before it is made, its actual cost afterwards, its limits.

Costs are in millionths of a dollar, rounded up. Prices come from the table that `genai-prices` bundles, read
offline; the project file overrides it. A model without a known price is not called: a budget cannot rest on a
guess.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from thresher.ai.provider import ModelCall, Provider
from thresher.config.models import Models, Rate, Thinker
from thresher.config.settings import Settings
from thresher.core.answer import DOLLAR, Usage
from thresher.core.clock import SECOND, Clock, SystemClock
from thresher.core.errors import BudgetExhausted, ConfigError

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice


# Tokens that vendors add and charge for: turn markers, and the instructions for a tool or a schema.
FRAMING = 1_000
FREE = Rate(Decimal(0), Decimal(0))


class Prices:
    """The prices of a project's models."""

    def __init__(self, models: Models, clock: Clock | None = None) -> None:
        self._models = models
        self._clock = clock or SystemClock()
        self._known: dict[tuple[str, str], Any] = {}

    def most(self, provider: str, model: str, input_bytes: int, output_tokens: int) -> int:
        """What a call can cost at worst: every byte a token, the answer as long as it may be, the dearest
        tier it can reach.
        """
        tokens = input_bytes + FRAMING
        rate = self._fixed(provider, model) or _worst(self._listed(provider, model), tokens)
        return _charged(rate, tokens, output_tokens)

    def cost(self, provider: str, model: str, usage: Usage) -> int:
        """What a call has cost. Tokens that were read from a cache, or thought in silence, are paid in full:
        never too little.
        """
        rate = self._fixed(provider, model) or _reached(self._listed(provider, model), usage.input_tokens)
        return _charged(rate, usage.input_tokens, usage.output_tokens)

    def _fixed(self, provider: str, model: str) -> Rate | None:
        """The price that the project sets, or the one of a server of its own."""
        if given := self._models.prices.get(f"{provider}/{model}"):
            return given
        return FREE if self._thinker(provider).private else None

    def _thinker(self, provider: str) -> Thinker:
        try:
            return self._models.providers[provider]
        except KeyError:
            raise ConfigError(
                f"there is no provider {provider!r}; add it to models.providers in thresher.yaml"
            ) from None

    def _listed(self, provider: str, model: str) -> "ModelPrice":
        """The table's price as of today. Which model is meant is looked up once."""
        if (provider, model) not in self._known:
            self._known[provider, model] = _found(self._thinker(provider), model)
        today = datetime.fromtimestamp(self._clock.now() / SECOND, UTC)
        price: ModelPrice = self._known[provider, model].get_prices(today)
        if price.input_mtok is None or price.output_mtok is None:
            raise _unknown(provider, model)
        return price


def _found(thinker: Thinker, model: str) -> Any:
    try:
        from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415  an extra, and slow to import
    except ImportError:
        raise ConfigError(
            "model prices need an extra that is not installed; install it with: pip install 'thresher[ai]'"
        ) from None
    vendor = thinker.kind if thinker.base_url is None else None
    try:
        _, info = get_snapshot().find_provider_model(model, None, vendor, thinker.base_url)
    except LookupError:
        raise _unknown(thinker.name, model) from None
    return info


def _unknown(provider: str, model: str) -> ConfigError:
    name = f"{provider}/{model}"
    return ConfigError(
        f"no price is known for {name}, so it is not called; set the price in thresher.yaml, in "
        f'dollars per million tokens: models: {{prices: {{"{name}": {{input: 1.25, output: 10}}}}}}'
    )


def _worst(price: "ModelPrice", tokens: int) -> Rate:
    """A tier may be cheaper than the one below it; a call that stays below is dearer then."""
    prices = (price.input_mtok, price.output_mtok)
    return Rate(*(max(rate for start, rate in _tiers(each).items() if start <= tokens) for each in prices))


def _reached(price: "ModelPrice", tokens: int) -> Rate:
    """Above a threshold its price holds for all tokens of a call, not only for those above it."""
    return Rate(
        *(
            _tiers(each)[max(start for start in _tiers(each) if start <= tokens)]
            for each in (price.input_mtok, price.output_mtok)
        )
    )


def _tiers(price: Any) -> dict[int, Decimal]:
    """Prices by the number of input tokens from which they hold."""
    if isinstance(price, Decimal):
        return {0: price}
    return {0: price.base} | {tier.start: tier.price for tier in price.tiers}


def _charged(rate: Rate, input_tokens: int, output_tokens: int) -> int:
    """Dollars per million tokens are millionths of a dollar per token."""
    return math.ceil(rate.input * input_tokens + rate.output * output_tokens)


# Terms of a call: the model, its maximum price, its timeout, and the number of repairs.

# A call over its price limit stays so until somebody changes a setting; it is retried at this interval.
_WAIT = 3_600.0


@dataclass(frozen=True, slots=True)
class ModelTerms:
    """`cap` is what one call may cost, in millionths of a dollar; `output` the longest answer in tokens."""

    provider: Provider
    model: str
    prices: Prices
    cap: int
    output: int
    seconds: float
    repairs: int

    @classmethod
    def of(cls, provider: Provider, model: str, prices: Prices, settings: Settings) -> "ModelTerms":
        cap = round(settings["budget.call"] * DOLLAR)
        return cls(
            provider,
            model,
            prices,
            cap,
            settings.count("ai.output_limit"),
            float(settings["ai.timeout"]),
            settings.count("ai.repairs"),
        )

    @property
    def gate(self) -> str:
        return f"source:{self.provider.name}"

    def most(self, size: int) -> int:
        """What a call of so many bytes can cost at worst."""
        return self.prices.most(self.provider.name, self.model, size, self.output)

    def price(self, call: ModelCall) -> int:
        """What the call can cost at worst. Raises `BudgetExhausted` where that is more than one call may."""
        most = self.most(call.size)
        if most > self.cap:
            problem = BudgetExhausted(
                f"one call of {self.provider.name}/{self.model} with {call.size:,} bytes could cost ${most / DOLLAR:.6f}, and budget.call "
                f"allows ${self.cap / DOLLAR:.6f}: raise budget.call, or lower ai.part_size or ai.output_limit",
                retry_after=_WAIT,
                gate=self.gate,
            )
            problem.scope = "call"
            problem.away = _WAIT  # the provider is as good as ever, and others may ask it shorter questions
            raise problem
        return most

    def cost(self, usage: Usage) -> int:
        return self.prices.cost(self.provider.name, self.model, usage)
