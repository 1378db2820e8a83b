"""What the doctor says about how we appear to the sites we visit: our name, and where we go past their
robots.txt.
"""

from thresher.config.outward import Outward
from thresher.core.clock import as_text
from thresher.core.errors import DatabaseProblem
from thresher.fetch.agent import agent_of
from thresher.fetch.guard import Guard
from thresher.insight.doctor import Check, Verdict
from thresher.store.sources import find_waived
from thresher.store.store import Store

SHOWN = 5


def reach(outward: Outward) -> str:
    """Where requests may go, and where names lead that the project itself has mapped."""
    mapped = [f"{host} is answered by {address}" for host, address in sorted(outward.resolve.items())]
    return "; ".join([*Guard(outward.allow).describe(), *mapped, *(["over HTTP/2"] if outward.http2 else [])])


def check_name(outward: Outward) -> Check:
    """Under which name we ask, and whether anybody can be reached behind it."""
    header = agent_of(outward.user_agent, outward.contact).header
    reachable = outward.contact or "@" in header or "://" in header
    advice = (
        None
        if reachable
        else "a site that minds should be able to say so: write fetch: {contact: bot@example.com} into thresher.yaml"
    )
    return Check("user agent", Verdict.OK if reachable else Verdict.WARN, header, advice)


def check_waivers(store: Store) -> list[Check]:
    """Where a person has switched robots.txt off."""
    try:
        with store.read() as session:
            waived = find_waived(session)
    except DatabaseProblem:
        return []  # an older schema: the check of the schema has said so
    if not waived:
        return [Check("robots.txt", Verdict.OK, "kept to everywhere")]
    says = "; ".join(
        f"{name} since {(as_text(at) or '')[:10]}: {reason}" for name, at, reason in waived[:SHOWN]
    )
    more = f"; and {len(waived) - SHOWN} more" if len(waived) > SHOWN else ""
    return [
        Check(
            "robots.txt",
            Verdict.WARN,
            f"not asked at {says}{more}",
            "where the reason is gone: thresher sources robots NAME on",
        )
    ]
