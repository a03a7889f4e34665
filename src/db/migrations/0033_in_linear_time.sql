-- What text costs may not grow with the square of its length: fourteen documents whose descriptions were made for it kept the
-- words of every company from being written down.

set local role certo_owner;
set local search_path = certo, public;

-- As 0011 says: each three characters, and fewer at the end; so whatever index there is of them stays right. substr() counts
-- from the beginning for each place (16 s for 36,000 characters). Cut into threes from the first, the second and the third
-- character on, all of them are there in one pass each: 36 ms, and of 50 characters 0.13 ms where it was 0.16.
create or replace function grams_of(words text) returns tsvector language sql immutable parallel safe strict
  return array_to_tsvector(array(select unnest(regexp_matches(rest, '.{1,3}', 'g'))
    from (values (words), (substr(words, 2)), (substr(words, 3))) cut (rest)));
