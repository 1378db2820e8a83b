-- A saved body may also be owned by rows of an app's own tables: kind app:NAME, with a number that the app chooses.
{postgres}alter table blob_owners drop constraint blob_owners_kind_check;
{postgres}alter table blob_owners add constraint blob_owners_kind_check check (kind in ('lineage', 'record') or kind like 'app:%');
{sqlite}alter table blob_owners rename to old_blob_owners;
{sqlite}create table blob_owners (
{sqlite}    hash  text not null,
{sqlite}    kind  text not null check (kind in ('lineage', 'record') or kind like 'app:%'),
{sqlite}    owner bigint not null,
{sqlite}    primary key (hash, kind, owner)
{sqlite}){compact};
{sqlite}insert into blob_owners (hash, kind, owner) select hash, kind, owner from old_blob_owners order by hash, kind, owner;
{sqlite}drop table old_blob_owners;
{sqlite}create index blob_owners_owner on blob_owners (kind, owner);
