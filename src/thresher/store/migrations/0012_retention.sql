-- What grows old is found by an index, however much there is of it.

create index refusals_parent on refusals (parent_id);
create index other_attempts_ended on other_attempts (ended_at);
create index workers_stopped on workers (stopped_at) where stopped_at is not null;
