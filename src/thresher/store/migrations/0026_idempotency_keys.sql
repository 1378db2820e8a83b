-- Requests that their callers named, so that they can be repeated without being done twice.
create table idempotency_keys (
    id       {identity},
    caller   text not null,                     -- key 12, or person 3
    key      text not null,                     -- the SHA-256 of what the caller chose
    request  text not null,                     -- the SHA-256 of the method, the path and the body
    attempt  integer not null default 1,        -- the fence: it rises with every attempt
    begun_at bigint not null,
    until_at bigint not null,                   -- before, no other attempt begins
    changed  integer not null default 0 check (changed in (0, 1)),  -- set in the transaction of the change
    ended_at bigint,
    status   integer,                           -- null: the answer was not kept
    media    text,
    body     {bytes},
    unique (caller, key)
);
create index idempotency_keys_begun on idempotency_keys (begun_at);
