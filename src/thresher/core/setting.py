"""One setting of the machine or of an app, and the check of a value that a person wrote for it."""

from dataclasses import dataclass

from thresher.core.errors import ConfigError

Number = int | float


@dataclass(frozen=True, slots=True)
class Setting:
    """A number that can be changed at run time. A whole default makes it a whole number. Create it with
    `tunable` or `guarded`, which decide `admin`: whether a change over HTTP needs the scope admin.
    """

    name: str
    default: Number
    unit: str
    low: Number
    high: Number
    sentence: str
    admin: bool

    def parse(self, text: object) -> Number:
        """Parse a value, or raise an error that names the key, the value, and what it must be."""
        wants = "a whole number" if isinstance(self.default, int) else "a number"
        try:
            value: Number = int(str(text)) if isinstance(self.default, int) else float(str(text))
        except ValueError:
            raise ConfigError(f"{self.name} must be {wants} ({self.unit}), got {text!r}") from None
        if not self.low <= value <= self.high:
            raise ConfigError(
                f"{self.name} must be {wants} from {self.low:g} to {self.high:g} ({self.unit}), got {text!r}"
            )
        return value


def tunable(name: str, default: Number, unit: str, low: Number, high: Number, sentence: str) -> Setting:
    """Create a setting that needs only the scope write: how an app judges, when work is retried."""
    return Setting(name, default, unit, low, high, sentence, admin=False)


def guarded(name: str, default: Number, unit: str, low: Number, high: Number, sentence: str) -> Setting:
    """Create a setting that only administrators can change: security, money, politeness, memory, durability,
    retention.
    """
    return Setting(name, default, unit, low, high, sentence, admin=True)
