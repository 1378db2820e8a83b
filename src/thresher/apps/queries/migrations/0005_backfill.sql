-- The first day that a person asked for with a backfill. The project file says when a history begins; it does not take this back.
alter table query_state add column backfill_from text;
