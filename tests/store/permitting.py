"""Permits as tests ask for them: one host, one holder, and what is out at the moment."""

from tests.harness.gates import gate_row
from thresher.core.clock import SECOND
from thresher.store import permits

HOST = "host:a.example"


def reserve(store, *gates, claim=None, holder=None, expires_us=60 * SECOND):
    return permits.reserve(store, gates or (HOST,), claim=claim, holder=holder, expires_us=expires_us)


def start(store, *gates, claim=None):
    found = permits.start(store, gates or (HOST,), claim=claim)
    return None if isinstance(found, permits.Go) else found


def held(task):
    return task.id, task.claim


def in_flight(store, name=HOST):
    return gate_row(store, name)["in_flight"]
