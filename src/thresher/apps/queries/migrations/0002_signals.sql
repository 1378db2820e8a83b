-- Offers as signals, and the companies that they are signals of. The whole offer is a posting record; here is what it is compared,
-- scored and counted by.
create table query_offers (
    posting      text primary key,              -- the key of the posting's record
    client       text not null,                 -- that saw it first
    company      text not null,                 -- the key of the company's record; empty: not known
    company_name text not null,
    title        text not null,
    headline     text not null,                 -- the words of the title that tell it from others
    url          text,
    location     text not null,
    posted_on    text,                          -- a day, as the client says
    first_seen   bigint not null,
    last_seen    bigint not null,               -- it, or an offer that reposts it
    state        text not null default 'open' check (state in ('open', 'closed')),
    held         integer not null default 0,    -- 1: a person has resolved the company, so it is not scored
    listed       text not null,                 -- the print of its row in the client's list: tells changed from known
    described    integer not null default 0,    -- 1: it had a description when it was scored
    fingerprint  text,                          -- of title and description; null: not compared
    size         bigint not null default 0,     -- words of title and description
    canonical    text,                          -- the posting that this one reposts
    repost_why   text,                          -- why it is a repost, or why it was not compared
    reposts      bigint not null default 0,     -- offers that repost this one
    score        integer,                       -- null: not scored, because it is a repost or the company is resolved
    strong       integer not null default 0,
    category     text,                          -- the one that brought most
    rules        text not null default '',      -- the print of the rules that it was scored by; empty: to be scored
    categories   text not null default '[]',    -- all that counted
    signature    text,
    hits         text not null default '[]',    -- the parts of the score
    sketch       text
);
-- The offers of a company, and those that were seen last.
create index query_offers_company on query_offers (company, last_seen);
create index query_offers_fingerprint on query_offers (fingerprint) where canonical is null and fingerprint is not null;
create index query_offers_canonical on query_offers (canonical) where canonical is not null;
create index query_offers_rules on query_offers (rules, posting) where canonical is null and held = 0;

create table company_signals (
    company             text primary key,
    name                text not null default '',
    max_score           integer not null default 0,
    offer_count         bigint not null default 0,
    unique_offer_count  bigint not null default 0,
    strong_offer_count  bigint not null default 0,
    open_offers         bigint not null default 0,
    avg_strong_score    bigint,                 -- hundredths
    posting_activity    bigint not null default 0,
    top_category        text,
    top_offer           text,
    top_offer_url       text,
    category_max_scores text not null default '{}',
    last_strong_at      bigint,
    first_seen          bigint not null,
    updated_at          bigint not null,        -- when the figures were last computed, or failed to be
    dirty               integer not null default 1,
    problem             text,                   -- why the figures could not be computed
    -- What a person decides; no computation writes these.
    resolution          text not null default 'PENDING',
    resolved            integer not null default 0,
    resolution_at       bigint,
    feedback            text check (feedback in ('OK', 'FP', 'FN')),
    notes               text
);
create index company_signals_dirty on company_signals (updated_at, company) where dirty = 1 and resolved = 0;
create index company_signals_score on company_signals (max_score, company);

-- Who decided what, and what it was before. Never changed.
create table company_feedback (
    id      {identity},
    company text not null,
    field   text not null check (field in ('resolution', 'feedback', 'notes')),
    old     text,
    new     text,
    by      text not null,
    at      bigint not null
);
create index company_feedback_company on company_feedback (company, id);
