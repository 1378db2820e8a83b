-- Marks: the few values of a record that it is found and ordered by. They follow its data, and go with it.
create table marks (
    record_id bigint not null references records (id),
    kind      text not null,
    name      text not null,
    word      text,
    number    bigint,
    primary key (record_id, name),
    check ((word is null) <> (number is null))
){compact};
create index marks_word on marks (kind, name, word, record_id) where word is not null;
create index marks_number on marks (kind, name, number, record_id) where number is not null;
-- The newest of a kind first: how people page through records, and how they are exported.
create index records_kind on records (kind, id);
