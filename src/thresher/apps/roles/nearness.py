"""How near a known role has to lie for a title to count as it, from the settings."""

from collections.abc import Mapping

from thresher.core.setting import Number
from thresher.hiring.title.likeness import Nearness

SETTINGS = ("roles.near", "roles.near_other", "roles.near_sure")


def nearness_of(settings: Mapping[str, Number]) -> Nearness:
    """The thresholds in force."""
    same, other, sure = (float(settings[name]) for name in SETTINGS)
    return Nearness(same, other, sure)
