-- Prints are sealed like the documents they show: who puts another file in their place without the key of the books is
-- found. What was printed before has no seal and gets none; whatever is written from here on has one.

set local role certo_owner;
set local search_path = certo, public;

alter table renditions
  add column seal bytea,
  add constraint renditions_sealed check (coalesce(length(seal), 0) = 32) not valid;
