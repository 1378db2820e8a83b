"""A small web to practise on: seeded, deterministic, local, and as badly behaved as it is told to be.

The fetcher's resolver leads every host name to it, so production code runs unchanged against addresses that
look real. Only the demo, the tests and the benchmarks import it.
"""

from thresher.practice.web.chronicle import Chronicle, chronicle
from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.company import HOSTED, KNOWN, Company, Traits, company, directory, owner, traits
from thresher.practice.web.control import CONTROL
from thresher.practice.web.knob import Knob, Trouble, robots
from thresher.practice.web.log import LogEntry, gaps, peak
from thresher.practice.web.planted import (
    CATALOGUES,
    CatalogueSite,
    Item,
    ItemChanges,
    Traps,
    item_changes,
    planted,
    traps,
)
from thresher.practice.web.posting import PracticePosting, postings
from thresher.practice.web.serving import PracticeWeb, RemoteWeb, Steering, practice_process
from thresher.practice.web.sites.home import board_url
from thresher.practice.web.walls import WALLS

__all__ = [
    "CATALOGUES",
    "CONTROL",
    "DAY_ZERO",
    "HOSTED",
    "KNOWN",
    "WALLS",
    "CatalogueSite",
    "Chronicle",
    "Company",
    "Item",
    "ItemChanges",
    "Knob",
    "LogEntry",
    "PracticePosting",
    "PracticeWeb",
    "RemoteWeb",
    "Steering",
    "Traits",
    "Traps",
    "Trouble",
    "board_url",
    "chronicle",
    "company",
    "directory",
    "gaps",
    "item_changes",
    "owner",
    "peak",
    "planted",
    "postings",
    "practice_process",
    "robots",
    "traits",
    "traps",
]
