-- How high the water stood when it was last measured.
create table tide_levels (
    harbour     text primary key,
    metres      double precision not null,
    measured_at bigint not null
);
