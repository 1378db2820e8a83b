-- The harbours that the project file closes.
create table tide_closed (
    harbour text primary key
);
