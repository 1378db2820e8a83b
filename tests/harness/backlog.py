"""A queue with a history: very many tasks that wait, and very many lanes that are blocked. Written by the
database itself."""

from dataclasses import dataclass

from thresher.core.clock import FOREVER
from thresher.store.session import Session
from thresher.store.store import Store

_COUNT = "with recursive n(i) as (select 1 union all select i + 1 from n where i < {many})"
_GATES = f"""insert into gates (name, max_in_flight, open_after, wake_at) {_COUNT}
    select 'source:' || i, 1000, case when i <= {{blocked}} then {FOREVER} else 0 end,
        case when i <= {{blocked}} then {FOREVER} end from n"""
_LANES = """insert into lanes (key, gates, status, parked_on, position)
    select name, {gates}, case when id <= {blocked} then 'parked' else 'ready' end, case when id <= {blocked} then id end, id from gates"""
_TASKS = f"""insert into tasks (kind, stage, state, lane_id, due, rank, priority, payload, created_at) {_COUNT}
    select 'page', 'fetch', 'pending', {{first}} + case when i <= {{many}} / 10 then i % {{blocked}} else {{blocked}} + i % {{ready}} end,
        1, i, 0, '{{{{}}}}', 0 from n"""
_GATE_LIST = {"sqlite": "cast(id as text)", "postgres": "array[id]"}


@dataclass(frozen=True)
class Backlog:
    """So many tasks, a tenth of them in blocked lanes, the others in lanes that are ready."""

    tasks: int
    blocked: int
    ready: int

    def write(self, store: Store) -> None:
        with store.write() as session:
            self.write_within(session, store.backend.dialect.name)

    def write_within(self, session: Session, dialect: str) -> None:
        session.run(_GATES.format(many=self.blocked + self.ready, blocked=self.blocked))
        session.run(_LANES.format(gates=_GATE_LIST[dialect], blocked=self.blocked))
        ((first,),) = session.rows("select min(id) from lanes where key = 'source:1'")
        session.run(_TASKS.format(many=self.tasks, blocked=self.blocked, ready=self.ready, first=first))


SMALL = Backlog(tasks=2_000, blocked=100, ready=100)
LARGE = Backlog(tasks=1_000_000, blocked=10_000, ready=1_000)
