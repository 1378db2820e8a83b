"""The way to a host: one lookup, every answer checked, and no other address is ever dialled.

Between the check and the connection there must be no second lookup, or a name server could give a harmless
answer to the first and our own router to the second.
"""

from thresher.core.errors import ConnectionFailed
from thresher.fetch.guard import Guard, Target
from thresher.fetch.resolver import Resolver, Spot, literal

MAX_SPOTS = 8  # all are checked, so many are tried


async def route(target: Target, resolver: Resolver, guard: Guard) -> tuple[Spot, ...]:
    """Where the target may be reached. Raises `Refused` if any address of it is forbidden."""
    address = literal(target.host)
    if (
        address is not None
    ):  # as written in the URL; nobody is asked about it, and so nobody can turn it into another
        spots: tuple[Spot, ...] = (Spot(address, target.port, target.tls),)
    else:
        spots = await resolver.resolve(target.host, target.port, target.tls)
    guard.check_spots(target.host, spots)
    if not spots:
        raise ConnectionFailed(f"the name {target.host} has no address", gate=f"host:{target.host}")
    return spots[:MAX_SPOTS]
