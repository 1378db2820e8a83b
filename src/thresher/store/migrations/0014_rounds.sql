-- When a round of a chore that all workers share was last begun: whoever moves it on does the round for all.
create table chore_rounds (
    name text primary key,
    at   bigint not null
);
