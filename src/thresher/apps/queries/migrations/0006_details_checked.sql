-- Own pages that were read stay known here, so that they can be looked at again: 0: not read yet.
alter table query_details add column checked_at bigint not null default 0;
drop index query_details_next;
create index query_details_next on query_details (source, later, added_at, posting) where checked_at = 0;
create index query_details_checked on query_details (source, checked_at, posting) where checked_at > 0;
