-- A recipe: which site is read into which entity, and how its site is walked once that is known.
create table recipes (
    id            {identity},
    name          text not null,
    url           text not null,
    entity        text not null,                  -- JSON: its name and its schema
    configuration text,                           -- JSON; null until it was detected or given
    limits        text not null default '{}',     -- JSON
    status        text not null default 'WAITING' check (status in ('WAITING', 'IN_PROGRESS', 'SUCCESS', 'ERROR')),
    reason        text,                           -- why, in words for a person
    version       integer not null default 0,     -- of its configuration; 0: it never had one
    detection     integer not null default 0,     -- the number of the newest detection that was asked for: only that one may write
    origin        text not null default 'person' check (origin in ('file', 'person')),
    report        text,                           -- JSON: what the detection found, sampled and proved
    retired_at    bigint not null default 0,
    created_at    bigint not null,
    updated_at    bigint not null
);
create unique index recipes_name on recipes (name);

-- Every configuration that a recipe has had.
create table recipe_versions (
    recipe_id     bigint not null,
    version       integer not null,
    url           text not null,
    entity        text not null,
    configuration text not null,
    limits        text not null,
    made_by       text not null,                  -- rules, model, or a person
    made_at       bigint not null,
    primary key (recipe_id, version)
){compact};

-- One walk over a site, as its recipe was when it began.
create table extractions (
    id             {identity},
    recipe_id      bigint not null,
    recipe_version integer not null,
    url            text not null,
    entity         text not null,
    configuration  text not null,
    limits         text not null,
    status         text not null default 'WAITING'
        check (status in ('WAITING', 'IN_PROGRESS', 'COMPLETE', 'STALE', 'CANCELLED', 'ERROR')),
    reason         text,
    created_at     bigint not null,
    started_at     bigint not null default 0,
    ended_at       bigint not null default 0,
    stale_at       bigint not null default 0,
    cost           bigint not null default 0,     -- millionths of a dollar, once it is over
    dropped        bigint not null default 0,     -- links that were not followed because of a limit
    completion     text,                          -- JSON: the figures of each step, once it is over
    previous_id    bigint                         -- the extraction of the same recipe before it
);
create index extractions_recipe on extractions (recipe_id, id);
create index extractions_open on extractions (id) where status in ('WAITING', 'IN_PROGRESS');

-- The tasks that began or resumed an extraction: their lineages are what it cost.
create table extraction_runs (
    extraction_id bigint not null,
    task_id       bigint not null,
    primary key (extraction_id, task_id)
){compact};

-- The pages of an extraction are found step by step: one step for each level, and one for the rest of the lists on it.
create table extraction_steps (
    extraction_id bigint not null,
    step          integer not null,
    kind          text not null check (kind in ('root', 'pagination', 'links', 'exploration', 'api')),
    level         integer not null,
    page_type     text not null,
    created_at    bigint not null,
    primary key (extraction_id, step)
){compact};

create table extraction_pages (
    extraction_id         bigint not null,
    page                  text not null,           -- a hash of its address
    url                   text not null,
    step                  integer not null,
    level                 integer not null,
    page_type             text not null,
    status                text not null default 'WAITING'
        check (status in ('WAITING', 'SUCCESS', 'ERROR', 'SKIPPED')),    -- IN_PROGRESS while its task runs
    number                integer,                 -- its place in a list
    list_page             text,                    -- the page that its list begins with
    explored              integer not null default 0,     -- steps of exploration that led here
    failure               text,                    -- JSON: what went wrong
    note                  text,
    final_url             text,
    content               text,                    -- hashes of stored bodies
    markdown              text,
    screenshot            text,
    content_type          text,
    links                 integer not null default 0,     -- that lead to the next level
    fetched_at            bigint not null default 0,
    extraction_status     text check (extraction_status in ('WAITING', 'SUCCESS', 'ERROR')),
    extraction_started_at bigint not null default 0,
    extracted_at          bigint not null default 0,
    extractor             text,                    -- what read it, with its version
    items                 integer not null default 0,
    moved_at              bigint not null,
    primary key (extraction_id, page)
){compact};
create index extraction_pages_figures on extraction_pages (extraction_id, step, status, extraction_status, items);
create index extraction_pages_moved on extraction_pages (extraction_id, moved_at);
create index extraction_pages_list on extraction_pages (extraction_id, list_page, number) where list_page is not null;
create index extraction_pages_empty on extraction_pages (extraction_id, list_page, number) where status = 'SUCCESS' and links = 0;
create index extraction_pages_full on extraction_pages (extraction_id, list_page, number) where links > 0;

-- A page that was met twice has two parents.
create table extraction_parents (
    extraction_id bigint not null,
    page          text not null,
    parent        text not null,
    primary key (extraction_id, page, parent)
){compact};

-- What an extraction brought. Reading its stored pages again makes another version.
create table datasets (
    id            {identity},
    recipe_id     bigint not null,
    extraction_id bigint not null,
    version       integer not null,
    entity        text not null,
    created_at    bigint not null,
    ended_at      bigint not null default 0,
    coverage      text,                            -- JSON: of each field how many items have it, and how many of those are verified
    unique (extraction_id, version)
);
create index datasets_recipe on datasets (recipe_id, id);

create table data_items (
    id         {identity},
    dataset_id bigint not null,
    item_key   text not null,                      -- what makes it the same item in another data set
    page       text not null,                      -- that it was read from first
    place      integer not null default 0,         -- among the items of that page
    data       text not null,                      -- JSON
    evidence   text not null,                      -- JSON
    verified   integer not null,                   -- whether every value was found on the page
    doubts     text,                               -- JSON: sentences
    read_by    text not null,                      -- data, learned, model, api
    digest     text not null,                      -- of its data: two items with the same say the same
    url        text not null,
    created_at bigint not null
);
create unique index data_items_key on data_items (dataset_id, item_key);
create index data_items_page on data_items (dataset_id, page);
create index data_items_unverified on data_items (dataset_id, id) where verified = 0;

-- An item that stands on several pages belongs to all of them.
create table data_item_pages (
    dataset_id bigint not null,
    page       text not null,
    item_key   text not null,
    primary key (dataset_id, page, item_key)
){compact};
