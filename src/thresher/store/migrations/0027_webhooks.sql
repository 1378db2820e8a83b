-- Addresses of other programs that are told of events. What waits for one, and whether it is paused, is its gate's: source:webhook.NAME.
create table webhooks (
    id         {identity},
    name       text not null unique,
    url        text not null,
    host       text not null,
    events     text not null,                  -- kinds of events; * is every kind
    secret     text not null,                  -- signs what is sent, so it is kept as it is
    old_secret text,                           -- signs too until old_until: the receiver may not know the new one yet
    old_until  bigint,
    made_by    text,
    created_at bigint not null
);

-- When an event was handed to the webhooks that want it. Rows get their numbers before they are committed, so a
-- position in the table would miss those that come late.
alter table events add column forwarded_at bigint;
create index events_to_forward on events (id) where forwarded_at is null;
