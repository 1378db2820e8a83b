"""Somebody who shares the schema with us: a table, a function, a trigger and a view of their own, which are
none of our business."""

from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

SCHEMA = "shop"
_THEIRS = """
    create table orders (id int primary key, total int not null, noted bool);
    create function total_of(o orders) returns int language sql return o.total;
    create function note() returns trigger language plpgsql as $$ begin new.noted := true; return new; end $$;
    create trigger note before insert on orders for each row execute function note();
    create view large_orders as select id, noted from orders where total_of(orders) > 100;
    insert into orders values (1, 50), (2, 200)
"""
_LOOK = """
    select 'table', attname, atttypid::regtype::text from pg_attribute where attrelid = 'orders'::regclass and attnum > 0
    union all select 'function', oid::text, pg_get_functiondef(oid) from pg_proc
        where pronamespace = %(schema)s::regnamespace and proname in ('total_of', 'note')
    union all select 'trigger', oid::text, pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'orders'::regclass and not tgisinternal
    union all select 'view', oid::text, pg_get_viewdef(oid) from pg_class where oid = to_regclass('large_orders')
    order by 1, 2
"""


class Tenant:
    """Moves in before we do. What they have is the same afterwards, and still works."""

    def __init__(self, url: str) -> None:
        self._url = url
        with self._connect() as connection:
            connection.execute(SQL("create schema {}").format(Identifier(SCHEMA)))
            connection.execute(_THEIRS)
            self._before = self._look(connection)

    def complaints(self) -> list[str]:
        """What is not as it was, at the end of everything."""
        with self._connect() as connection:
            found = [f"the tenant's {was} is now {now}" for was, now in self._compared(connection)]
            connection.execute("insert into orders values (3, 300)")
            rows = connection.execute("select id, noted from large_orders order by id").fetchall()
        return found + ([] if rows == [(2, True), (3, True)] else [f"the tenant's large orders are {rows}"])

    def _compared(self, connection: psycopg.Connection[Any]) -> list[tuple[Any, Any]]:
        after = self._look(connection)
        return [
            (self._before.get(name), after.get(name))
            for name in self._before | after
            if self._before.get(name) != after.get(name)
        ]

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self._url, autocommit=True, options=f"-c search_path={SCHEMA}")

    @staticmethod
    def _look(connection: psycopg.Connection[Any]) -> dict[tuple[str, str], str]:
        return {(what, name): text for what, name, text in connection.execute(_LOOK, {"schema": SCHEMA})}
