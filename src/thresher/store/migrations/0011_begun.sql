-- A task that lost its worker before runs alone, and waits for that in its worker's hands. `begun` is the claim at which it last began:
-- only a worker that is lost after that counts against it. A worker that keeps no such notes (an older one) counts against all it held.
alter table tasks add column begun integer not null default 0;
alter table workers add column marks_begun integer not null default 0;
