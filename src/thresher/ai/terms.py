"""On what terms a model is asked: who, for how much at most, for how long, and how often it is told what is
wrong.
"""

from dataclasses import dataclass

from thresher.ai.prices import Prices
from thresher.ai.provider import Call, Provider
from thresher.config.settings import Settings
from thresher.core.answer import DOLLAR, Usage
from thresher.core.errors import BudgetExhausted

# A call that is too dear today is too dear in a minute. Somebody has to change a setting, so it is tried
# again now and then.
_WAIT = 3_600.0


@dataclass(frozen=True, slots=True)
class Terms:
    """`cap` is what one call may cost, in millionths of a dollar; `output` the longest answer in tokens."""

    provider: Provider
    model: str
    prices: Prices
    cap: int
    output: int
    seconds: float
    repairs: int

    @classmethod
    def of(cls, provider: Provider, model: str, prices: Prices, settings: Settings) -> "Terms":
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

    def price(self, call: Call) -> int:
        """What the call can cost at worst. Raises `BudgetExhausted` where that is more than one call may."""
        most = self.most(call.size)
        if most > self.cap:
            problem = BudgetExhausted(
                f"one call of {self.provider.name}/{self.model} with {call.size:,} bytes could cost ${most / DOLLAR:.6f}, and budget.call "
                f"allows ${self.cap / DOLLAR:.6f}: raise budget.call, or lower ai.part_size or ai.output_limit",
                retry_after=_WAIT,
                gate=self.gate,
            )
            problem.away = _WAIT  # the provider is as good as ever, and others may ask it shorter questions
            raise problem
        return most

    def cost(self, usage: Usage) -> int:
        return self.prices.cost(self.provider.name, self.model, usage)
