"""One line of the table."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Score:
    """`value` is what was measured over `cases`; `aim` what it should at least be (or at most, where `lower`
    is better)."""

    area: str
    name: str
    value: float
    cases: int
    aim: float | None = None
    lower: bool = False
    unit: str = ""
    misses: tuple[str, ...] = field(default=(), compare=False)

    @property
    def met(self) -> bool | None:
        """Whether the aim was reached; None where there is none."""
        if self.aim is None:
            return None
        return self.value <= self.aim if self.lower else self.value >= self.aim
