-- What a task hands back to whoever waits for it. In a table of its own: most tasks have none, and settling those writes nothing here.

create table results (
    task_id  bigint primary key,
    value    text not null               -- JSON
){compact};
