-- What a person may do: a viewer looks, an operator also changes tasks, sources and what apps look for, an admin also keys and people.
alter table admins add column role text not null default 'admin' check (role in ('viewer', 'operator', 'admin'));

-- Who changed what, written in the transaction of the change.
create table audit (
    id     {identity},
    at     bigint not null,
    who    text not null,                      -- the name of a person, of a key, or of a user of the command line
    kind   text not null check (kind in ('person', 'key', 'user')),
    role   text,                               -- that a person had then
    via    text not null,                      -- dashboard, api or command line
    action text not null                       -- what was asked for, without secrets
);
create index audit_at on audit (at);
create index audit_who on audit (who, id);
