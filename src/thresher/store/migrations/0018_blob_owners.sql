-- Who needs a body that a stage saved: the lineage of the task that saved it, and every record that names its hash (saved = 3). Bodies
-- from before this table (saved = 1) have owners that nobody knows, and stay.
create table blob_owners (
    hash  text not null,
    kind  text not null check (kind in ('lineage', 'record')),
    owner bigint not null,                     -- a tracking id, or the id of a record
    primary key (hash, kind, owner)
){compact};
create index blob_owners_owner on blob_owners (kind, owner);

-- An example refers to its page by the hash.
create index examples_page on examples (page);

-- When a body lost an owner. 0: it lost a page, and may go at once.
alter table loose_blobs add column since bigint not null default 0;
create index loose_blobs_since on loose_blobs (since, hash);
