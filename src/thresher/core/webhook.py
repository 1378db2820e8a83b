"""Webhook messages: which events an endpoint wants, what it is sent, and the signature that says by whom.

The signature follows the open convention Standard Webhooks: receivers verify it with a library of their
language, or with the few lines in docs/how-to/receive-webhooks.md.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from thresher.core.clock import SECOND, as_text
from thresher.core.event import EventKind

SECRET_PREFIX = "whsec_"  # noqa: S105  how every secret of the convention begins
SECRET_BYTES = 32
GATE = "source:webhook."
EVERY = "*"
PING = "ping"
MAX_DATA = 16_384  # bytes of an event's details; beyond that, they are left out
_TOLD_OF_OTHERS = (EventKind.GATE_DISABLED, EventKind.GATE_RESUMED)
# The members of a message, in the order in which they are sent.
MEMBERS = ("id", "kind", "at", "about", "subject", "data", "complete")


@dataclass(frozen=True, slots=True)
class Webhook:
    """An endpoint and the kinds of events that it is told of. Its secrets are not among what is shown."""

    id: int
    name: str
    url: str
    host: str
    events: tuple[str, ...]
    made_by: str | None
    created_at: int
    old_until: int | None = None

    @property
    def source(self) -> str:
        """The source that its deliveries pass: what a person pauses."""
        return source_of(self.name)

    def wants(self, kind: str, gate: str | None) -> bool:
        """Whether it is told of an event. Never of its own troubles, for each telling could make the next;
        and of another webhook's only what happens once, until a person comes: two receivers that are away,
        or answer 429, could go on telling of each other forever.
        """
        if gate in (f"source:{self.source}", f"host:{self.host}"):
            return False
        if gate is not None and gate.startswith(GATE) and kind not in _TOLD_OF_OTHERS:
            return False
        return kind in self.events or EVERY in self.events


@dataclass(frozen=True, slots=True)
class SignedEndpoint:
    """Where to deliver, and what to sign with: the newest secret first. `last_success` is when anything was
    last delivered there.
    """

    url: str
    host: str
    secrets: tuple[str, ...] = field(repr=False)
    last_success: int | None = None


def source_of(name: str) -> str:
    """The name of the source of a webhook."""
    return f"webhook.{name}"


def gates_of(name: str, host: str) -> tuple[str, str]:
    """The gates of a delivery: the webhook's own, which a person pauses, and its host's."""
    return GATE + name, f"host:{host}"


def message(
    message_id: str,
    kind: str,
    at: int,
    about: str,
    subject: Mapping[str, Any],
    data: Mapping[str, Any],
) -> dict[str, Any]:
    """What is sent of an event. `at` is in microseconds since 1970."""
    complete = len(orjson.dumps(dict(data))) <= MAX_DATA
    said = (message_id, kind, as_text(at), about, dict(subject), dict(data) if complete else {}, complete)
    return dict(zip(MEMBERS, said, strict=True))


def body_of(said: Mapping[str, Any]) -> bytes:
    """The message as it is sent: the same bytes at every attempt, for they are what is signed."""
    return orjson.dumps({name: said[name] for name in MEMBERS if name in said})


def new_secret(random: bytes) -> str:
    """A secret as its owner gets it."""
    return SECRET_PREFIX + base64.b64encode(random).decode()


def signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Sign a message with one secret. `timestamp` is in seconds since 1970."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b".".join((message_id.encode(), str(timestamp).encode(), body))
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def signed_headers(secrets: Sequence[str], message_id: str, now: int, body: bytes) -> dict[str, str]:
    """The headers of one attempt, with a signature for each secret: the receiver needs to know one."""
    timestamp = now // SECOND
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signature(each, message_id, timestamp, body) for each in secrets),
    }
