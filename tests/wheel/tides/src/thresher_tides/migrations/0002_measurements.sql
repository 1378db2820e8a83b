-- How often a harbour was measured; one that was measured before counts once.
alter table tide_levels add column measurements integer not null default 1;
create index tide_levels_metres on tide_levels (metres);
