"""Rounds that all workers share: one of them does each. No leader; whoever comes first when a round is due
has it.
"""

from thresher.store.session import one
from thresher.store.store import Store

_LAST = "select at from chore_rounds where name = :name"
# A time ahead of us was written before the clock was set back.
_BEGIN = """insert into chore_rounds (name, at) values (:name, :now)
    on conflict (name) do update set at = excluded.at where chore_rounds.at <= :due or chore_rounds.at > :now_too"""


def begin_round(store: Store, name: str, every_us: int) -> bool:
    """Whether this round is ours to do: the last one began long enough ago, and nobody else has begun it
    meanwhile.
    """
    with store.glance() as session:
        now, last = store.backend.now(session), one(session, _LAST, {"name": name})
    if last is not None and now - every_us < last[0] <= now:
        return False
    with store.write() as session:
        now = store.backend.now(session)
        return session.run(_BEGIN, {"name": name, "now": now, "due": now - every_us, "now_too": now}) > 0
