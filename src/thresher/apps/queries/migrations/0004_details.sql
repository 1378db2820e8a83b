-- Offers whose own page is still to be asked for, because the list says too little. What one run has no budget for, the next ones do.
create table query_details (
    posting   text primary key,
    source    text not null,                             -- what rests or is stopped with its client
    query_key text not null,                             -- that found it
    number    text not null,                             -- what its page is asked for by, as far as the list says it
    url       text not null,
    title     text not null,
    company   text not null,
    later     integer not null,                          -- 0: of a company that nobody knew, 1: of another
    tries     integer not null default 0,
    try_at    bigint not null default 0,
    added_at  bigint not null
){compact};
create index query_details_next on query_details (source, later, added_at, posting);
