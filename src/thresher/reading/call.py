"""A call: one request that a platform's file describes, filled in for one board, ready to be sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher.core.credentials import Credentials


@dataclass(frozen=True, slots=True)
class Call:
    """What to send. Secrets stand in `credentials` and nowhere else, so that the URL and the headers may be
    kept and shown.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    credentials: Credentials | None = None
