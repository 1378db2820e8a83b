"""One setting of the machine or of an app, and the check of a value that a person wrote for it."""

from dataclasses import dataclass

from thresher.core.errors import ConfigError

Number = int | float


@dataclass(frozen=True, slots=True)
class Setting:
    """A number that a person may change. A whole default makes it a whole number. Make one with `tunable` or
    `guarded`, which decide `admin`: whether a change over HTTP needs the scope admin.
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


def tunable(name: str, default: Number, unit: str, low: Number, high: Number, sentence: str) -> Setting:
    """Make a setting that whoever may write can change: how an app judges, when work is tried again."""
    return Setting(name, default, unit, low, high, sentence, admin=False)


def guarded(name: str, default: Number, unit: str, low: Number, high: Number, sentence: str) -> Setting:
    """Make a setting that only administrators can change: what touches security, money, politeness, memory,
    durability or how long things are kept.
    """
    return Setting(name, default, unit, low, high, sentence, admin=True)
