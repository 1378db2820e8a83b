"""One setting: a number with its owner, and how a person's words for it are checked."""

from dataclasses import dataclass
from functools import partial

from thresher.core.errors import ConfigError

Number = int | float


@dataclass(frozen=True, slots=True)
class Setting:
    """One number with its owner. `admin`: a change over HTTP needs the scope admin. It has no default, so
    each setting has to decide.
    """

    name: str
    default: Number
    unit: str
    low: Number
    high: Number
    sentence: str
    admin: bool

    def parse(self, text: object) -> Number:
        """The value a person wrote, or an error that names the key, what it got, and what it wants."""
        wants = "a whole number" if isinstance(self.default, int) else "a number"
        try:
            value: Number = int(str(text)) if isinstance(self.default, int) else float(str(text))
        except ValueError:
            raise ConfigError(f"{self.name} wants {wants} ({self.unit}), got {text!r}") from None
        if not self.low <= value <= self.high:
            raise ConfigError(
                f"{self.name} wants {wants} from {self.low:g} to {self.high:g} ({self.unit}), got {text!r}"
            )
        return value


# How an app judges and when failed work is tried again: for whoever may write.
tunable = partial(Setting, admin=False)
# What touches security, money, politeness, memory, durability or how long things are kept: for
# administrators.
guarded = partial(Setting, admin=True)
