-- What is to be valued.
create table price_items (
    id          {identity},
    name        text not null,
    kind        text not null,
    spec        text not null,                      -- JSON: attributes, keywords, currency, addresses, sources
    status      text not null default 'pending' check (status in ('pending', 'attributed', 'priced', 'archived')),
    origin      text not null default 'person' check (origin in ('file', 'person')),
    refresh     bigint not null default 0,
    created_at  bigint not null,
    updated_at  bigint not null,
    archived_at bigint not null default 0
);
create unique index price_items_name on price_items (name);
create index price_items_status on price_items (status, id);

-- Where listings come from. Its gate says whether it is open; here stands what it is worth and how it is asked.
create table price_sources (
    id         {identity},
    name       text not null,
    adapter    text not null check (adapter in ('marketplace', 'page', 'search', 'csv', 'manual')),
    spec       text not null,                       -- JSON: definition, options, tier, reputation, cache, rules
    origin     text not null default 'person' check (origin in ('file', 'person')),
    cache_seconds bigint,                           -- what a person has set while it runs; null: as the spec says
    unproven   integer not null default 0,          -- answers in a row that proved nothing
    retired_at bigint not null default 0,
    created_at bigint not null,
    updated_at bigint not null
);
create unique index price_sources_name on price_sources (name);

-- What is known of one item at one source: when it was last looked for, how that ended, and when it is due again.
create table price_collections (
    item_id         bigint not null,
    source_id       bigint not null,
    due_at          bigint not null default 0,
    asked_at        bigint not null default 0,      -- when a task for it was made that has not ended; 0: none
    began_at        bigint not null default 0,      -- of the last collection that asked the source or its cache
    ended_at        bigint not null default 0,
    last_success_at bigint not null default 0,
    verdict         text check (verdict in ('found', 'confirmed_empty', 'unknown', 'blocked')),
    reason          text,
    pages           integer not null default 0,     -- of the last collection
    listings        integer not null default 0,
    counted         integer not null default 0,
    changes         integer not null default 0,     -- prices that the last collection found changed, new or gone
    quiet           integer not null default 0,     -- looks in a row that found no price changed
    complete        integer not null default 0,     -- whether it read the list to its end
    from_cache      integer not null default 0,
    failures        integer not null default 0,     -- in a row
    primary key (item_id, source_id)
){compact};
create index price_collections_due on price_collections (source_id, due_at);
create index price_collections_asked on price_collections (source_id, asked_at);

-- The latest state of each listing as evidence about an item. A listing found for two items has a row for each.
create table price_points (
    id             {identity},
    item_id        bigint not null,
    source_id      bigint not null,
    dedupe_key     text not null,                   -- ext_ID, or hash_ and 16 digits
    external_id    text,
    price          bigint not null,                 -- for all that the listing offers, in the currency's smallest unit
    currency       text not null,
    price_type     text not null check (price_type in ('sold', 'ask', 'bid')),
    unit           bigint not null,                 -- for one
    quantity       integer not null,
    match_strength integer not null,                -- thousandths
    counts         integer not null,
    reason         text,                            -- why it does not count
    title          text not null,
    url            text,
    item_condition text,
    grade          text,
    listing_date   text,                            -- YYYY-MM-DD
    first_seen     bigint not null,
    observed_at    bigint not null,                 -- last seen
    judged_at      bigint not null,                 -- when the listing was seen that its words were taken from
    ended_at       bigint not null default 0,       -- an ask that is no longer listed
    evidence       text not null,                   -- JSON: the quote, its place, what matched
    body           text                             -- hash of the answer it was read from
);
create unique index price_points_key on price_points (item_id, source_id, dedupe_key);
create index price_points_item on price_points (item_id, id);
-- Every look writes when it saw a listing: beside the row, where there is room, no index has to be written.
{postgres}alter table price_points set (fillfactor = 80);

-- Every price that a point has had, and when it vanished and came back. By item, for that is how they are read.
create table price_observations (
    item_id        bigint not null,
    observed_at    bigint not null,
    point_id       bigint not null,
    price          bigint not null,
    currency       text not null,
    price_type     text not null,
    unit           bigint not null,
    match_strength integer not null,
    what           text not null check (what in ('new', 'changed', 'ended', 'returned')),
    primary key (item_id, observed_at, point_id)
){compact};

-- One valuation for each item, and every one that it has had.
create table price_valuations (
    item_id      bigint primary key,
    currency     text not null,
    p10          bigint,                            -- null together: there is no evidence to go by
    p20          bigint,
    p40          bigint,
    median       bigint,
    p60          bigint,
    p80          bigint,
    p90          bigint,
    mean         bigint,
    confidence   integer,                           -- 1 to 10
    comp_count   integer not null,                  -- that the figures rest on
    sold_count   integer not null,
    ask_count    integer not null,
    source_count integer not null,
    explanation  text not null,
    components   text not null,                     -- JSON: the parts of the confidence, what was left out and why
    basis        text not null,                     -- a hash of all that went in: the same again writes nothing
    computed_at  bigint not null
);
create table price_valuation_history (
    item_id     bigint not null,
    computed_at bigint not null,
    currency    text not null,
    p10         bigint,
    p20         bigint,
    median      bigint,
    p80         bigint,
    p90         bigint,
    confidence  integer,
    comp_count  integer not null,
    primary key (item_id, computed_at)
){compact};

-- How often a valuation was asked for, and how many of these requests the stored one has seen. More were asked than
-- served: something has changed since. `task_id` asked last; whoever was asked before leaves the work to its successor.
create table price_valuation_requests (
    item_id   bigint primary key,
    asked     bigint not null default 0,
    task_id   bigint not null default 0,
    asked_at  bigint not null default 0,
    served    bigint not null default 0,
    served_at bigint not null default 0             -- when what it rests on was read
);

-- What a person wants to be told of.
create table price_alerts (
    id         {identity},
    item_id    bigint not null,
    kind       text not null check (kind in ('below', 'above', 'change')),
    threshold  bigint not null,                     -- in the item's currency; for change, thousandths
    armed      integer not null default 1,          -- told once, until the price has come back
    basis      bigint,                              -- the median that a change is measured against
    times      integer not null default 0,          -- that it has fired
    fired_at   bigint not null default 0,
    due        text,                                -- JSON: the title and the body of what is still to be told
    told_at    bigint not null default 0,
    told       text,                                -- what was said
    origin     text not null default 'person' check (origin in ('file', 'person')),
    created_at bigint not null,
    removed_at bigint not null default 0
);
create index price_alerts_item on price_alerts (item_id);

-- Rates that the user supplies. 1 of `base` is worth `rate` of `currency` on that day, as central banks publish them.
create table exchange_rates (
    day      text not null,
    base     text not null,
    currency text not null,
    rate     text not null,                         -- a decimal number
    primary key (base, currency, day)
){compact};

-- What a source answered to a query, whoever asked. It holds nothing of any item.
create table price_answers (
    id         {identity},
    source_id  bigint not null,
    query_key  text not null,                       -- a hash of the source and the whole query
    query      text not null,                       -- JSON
    answers    text not null,                       -- JSON: the hash, address and type of each stored body
    complete   integer not null,
    reason     text,                                -- why the list was cut short
    fetched_at bigint not null                      -- of its first body
);
create unique index price_answers_key on price_answers (source_id, query_key);
create index price_answers_age on price_answers (source_id, fetched_at);

-- What is remembered of the project's files, such as which rates were read.
create table price_options (
    name       text primary key,
    value      text not null,
    changed_at bigint not null
){compact};
