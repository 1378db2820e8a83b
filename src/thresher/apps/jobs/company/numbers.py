"""The numbers of the company pipeline. Their owner is the list of settings: names here are names there, after
`jobs.company.`.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from thresher.hiring.company.completeness import Thresholds
from thresher.hiring.company.priority import Points

AREA = "jobs.company."
Read = Callable[[str], Any]


def thresholds(read: Read) -> Thresholds:
    """What counts as known, and for how long."""
    return Thresholds(**{each.name: read(AREA + each.name) for each in fields(Thresholds)})


def points(read: Read) -> Points:
    """What each finding is worth, and from where on which tier begins."""
    return Points(**{each.name: read(AREA + each.name) for each in fields(Points)})
