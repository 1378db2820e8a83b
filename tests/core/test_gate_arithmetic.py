"""PostgreSQL carries the gate's arithmetic as functions; here the two are held together."""

import random

import pytest

from tests.harness.databases import only_postgres
from thresher.core.clock import DAY, FOREVER, SECOND
from thresher.core.gate import RANGES, UNLIMITED, Gate

NOW = 1_700_000_000 * SECOND
CASES = 5_000
COLUMNS = [name for name in Gate.__dataclass_fields__ if name not in ("id", "wake_at")]
WRITE = f"""insert into gates (name, {", ".join(COLUMNS)}) values (:name, {", ".join(":" + name for name in COLUMNS)})"""
ASK = """select gate_allowance(g, :now), gate_opens_at(greatest(g.open_after, g.tripped_until), g.tat, g.interval_us, g.burst, :now)
    from gates g order by g.id"""


def around(luck, reach):
    return NOW + luck.choice((0, 1, -1, luck.randint(-reach, reach), luck.randint(-reach, reach)))


def random_gate(luck):
    interval = luck.choice(
        (0, 1, luck.randint(1, 1_000), luck.randint(1, 10 * SECOND), RANGES["interval_us"][1])
    )
    burst = luck.choice((1, 2, luck.randint(1, 50), UNLIMITED))
    return Gate(
        0,
        luck.choice((None, 1, luck.randint(1, 9), UNLIMITED)),
        interval,
        burst,
        luck.choice((None, 1, luck.randint(1, 5))),
        luck.randint(0, DAY),
        luck.randint(0, 9),
        around(luck, min(3 * burst * interval + 1, FOREVER)),
        luck.randint(0, 6),
        luck.choice((0, around(luck, DAY))),
        luck.choice((0, 0, around(luck, DAY), FOREVER)),
    )


@pytest.mark.promise(19)
@only_postgres
def test_both_databases_reckon_alike_for_random_gates(store):
    luck = random.Random(20)
    gates = [random_gate(luck) for _ in range(CASES)]
    with store.write() as session:
        session.many(
            WRITE,
            [
                {"name": f"g{n}"} | {name: getattr(gate, name) for name in COLUMNS}
                for n, gate in enumerate(gates)
            ],
        )
    with store.read() as session:
        answers = session.rows(ASK, {"now": NOW})
    for gate, answer in zip(gates, answers, strict=True):
        assert answer == (gate.allowance(NOW), gate.opens_at(NOW)), gate
