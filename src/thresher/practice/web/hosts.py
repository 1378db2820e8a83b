"""Which site answers for which host: one list, read from the top. What is in none of its lines is a company's
own site.
"""

from collections.abc import Callable

from thresher.practice.web.answer import WebRequest, WebResponse
from thresher.practice.web.company import NOBODY
from thresher.practice.web.sites import (
    anthropic,
    ashby,
    bamboohr,
    breezy,
    bulk,
    catalogue,
    catalogues,
    feeds,
    gemini,
    greenhouse,
    home,
    icims,
    jobvite,
    lever,
    market,
    marketplace,
    marketplace_shop,
    model,
    personio,
    pinpoint,
    recruitee,
    rippling,
    search,
    smartrecruiters,
    teamtailor,
    workable,
    workday,
)

Site = Callable[[WebRequest], WebResponse]

HOSTS: tuple[tuple[str, Site], ...] = (
    ("bulk.example", bulk.site),
    ("*.bulk.example", bulk.site),
    ("boards-api.greenhouse.io", greenhouse.api),
    ("api.greenhouse.io", greenhouse.api),
    ("boards-api.eu.greenhouse.io", greenhouse.api),
    ("*.greenhouse.io", greenhouse.boards),
    ("api.lever.co", lever.api),
    ("api.eu.lever.co", home.unregistered),
    ("jobs.lever.co", lever.hosted),
    ("api.ashbyhq.com", ashby.api),
    ("jobs.ashbyhq.com", ashby.hosted),
    ("*.myworkdayjobs.com", workday.site),
    ("*.myworkdaysite.com", workday.site),
    ("api.smartrecruiters.com", smartrecruiters.api),
    ("*.smartrecruiters.com", smartrecruiters.hosted),
    ("*.recruitee.com", recruitee.site),
    ("*.workable.com", workable.site),
    ("*.jobs.personio.de", personio.site),
    ("*.jobs.personio.com", personio.site),
    ("*.teamtailor.com", teamtailor.site),
    ("*.bamboohr.com", bamboohr.site),
    ("*.icims.com", icims.site),
    ("jobs.jobvite.com", jobvite.site),
    ("app.jobvite.com", jobvite.feed),
    ("*.breezy.hr", breezy.site),
    ("api.rippling.com", rippling.api),
    ("ats.rippling.com", rippling.hosted),
    ("*.pinpointhq.com", pinpoint.site),
    ("feeds.practice.example", feeds.site),
    ("search.practice.example", search.site),
    ("courses.practice.example", catalogue.site),
    ("*.catalogues.example", catalogues.site),
    ("coins.practice.example", market.site),
    ("muenzen.practice.example", market.site),
    ("monnaies.practice.example", market.site),
    ("mynt.practice.example", market.site),
    ("api.ebay.com", marketplace.site),
    ("shop.marketplace.example", marketplace_shop.site),
    ("model.practice.example", model.site),
    ("api.openai.com", model.site),
    ("api.anthropic.com", anthropic.site),
    ("generativelanguage.googleapis.com", gemini.site),
    ("127.0.0.1", model.model_server),
    ("localhost", model.model_server),
    ("*.invalid", home.unregistered),
)
_EXACT = {pattern: site for pattern, site in HOSTS if not pattern.startswith("*")}
_SUFFIXES = tuple((pattern[1:], site) for pattern, site in HOSTS if pattern.startswith("*"))


def site_for(host: str) -> Site:
    """The site behind a host name."""
    if host in _EXACT:
        return _EXACT[host]
    if host.startswith(NOBODY) or "." not in host:
        return home.unregistered
    return next((site for suffix, site in _SUFFIXES if host.endswith(suffix)), home.site)
