"""A call: one request that a platform's file describes, filled in for one board, ready to be sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Call:
    """What to send. Secrets stand in it only as the names of environment variables until the moment it is made."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
