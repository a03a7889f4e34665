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

-- A run of marks without its end: normalize() sorts it in the square of its length, 57 ms for one description of 2,000
-- characters, in each row that a search walks past. No text has more than thirty marks on a character (UAX #15, Stream-Safe
-- Text Format), nor is more let in any longer (engine/plain-text.ts). These are all that normalize() sorts, as far as Unicode
-- 17, and the two halfwidth ones that become such. In plpgsql, or the list would be read again for each statement.
create function thinned(words text) returns text language plpgsql immutable parallel safe as $$
declare
  mark constant text := '['
    '\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670'
    '\u06d6-\u06dc\u06df-\u06e4\u06e7-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823'
    '\u0825-\u0827\u0829-\u082d\u0859-\u085b\u0897-\u089f\u08ca-\u08e1\u08e3-\u08ff\u093c\u094d\u0951-\u0954\u09bc\u09cd'
    '\u09fe\u0a3c-\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c3c\u0c48-\u0c56\u0cbc\u0ccd\u0d3b-\u0d3c\u0d4d\u0dca-\u0ddd'
    '\u0e38-\u0e3a\u0e48-\u0e4b\u0eb8-\u0eba\u0ec8-\u0ecb\u0f18-\u0f19\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f86-\u0f87\u0fc6'
    '\u1037-\u103a\u108d\u135d-\u135f\u1714-\u1715\u1734\u17d2\u17dd\u18a9\u1939-\u193b\u1a17-\u1a18\u1a60-\u1a7f'
    '\u1ab0-\u1aeb\u1b34-\u1b44\u1b6b-\u1b73\u1baa-\u1bab\u1be6-\u1bf3\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4'
    '\u1cf8-\u1cf9\u1dc0-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099-\u309a\ua66f\ua674-\ua67d'
    '\ua69e-\ua69f\ua6f0-\ua6f1\ua806\ua82c\ua8c4\ua8e0-\ua8f1\ua92b-\ua92d\ua953\ua9b3-\ua9c0\uaab0\uaab2-\uaab4'
    '\uaab7-\uaab8\uaabe-\uaabf\uaac1\uaaf6\uabed\ufb1e\ufe20-\ufe2f\uff9e-\uff9f\U000101fd\U000102e0\U00010376-\U0001037a'
    '\U00010a0d-\U00010a0f\U00010a38-\U00010a3f\U00010ae5-\U00010ae6\U00010d24-\U00010d27\U00010d69-\U00010d6d'
    '\U00010eab-\U00010eac\U00010efa-\U00010eff\U00010f46-\U00010f50\U00010f82-\U00010f85\U00011046\U00011070\U0001107f'
    '\U000110b9-\U000110ba\U00011100-\U00011102\U00011133-\U00011134\U00011173\U000111c0\U000111ca\U00011235-\U00011236'
    '\U000112e9-\U000112ea\U0001133b-\U0001133c\U0001134d\U00011366-\U00011374\U000113ce-\U000113d0\U00011442-\U00011446'
    '\U0001145e\U000114c2-\U000114c3\U000115bf-\U000115c0\U0001163f\U000116b6-\U000116b7\U0001172b\U00011839-\U0001183a'
    '\U0001193d-\U0001193e\U00011943\U000119e0\U00011a34\U00011a47\U00011a99\U00011c3f\U00011d42-\U00011d45\U00011d97'
    '\U00011f41-\U00011f42\U0001612f\U00016af0-\U00016af4\U00016b30-\U00016b36\U00016ff0-\U00016ff1\U0001bc9e'
    '\U0001d165-\U0001d169\U0001d16d-\U0001d172\U0001d17b-\U0001d182\U0001d185-\U0001d18b\U0001d1aa-\U0001d1ad'
    '\U0001d242-\U0001d244\U0001e000-\U0001e02a\U0001e08f\U0001e130-\U0001e136\U0001e2ae\U0001e2ec-\U0001e2ef'
    '\U0001e4ec-\U0001e4ef\U0001e5ee-\U0001e5ef\U0001e6e3\U0001e6e6\U0001e6ee-\U0001e6ef\U0001e6f5\U0001e8d0-\U0001e8d6'
    '\U0001e944-\U0001e94a'
    ']';
begin
  return regexp_replace(words, '(' || mark || '{30})' || mark || '+', '\1', 'g');
end $$;
grant execute on function thinned(text) to certo_app;

-- The same for all text without such a run. ASCII, where nothing but its case is folded, takes 2.5 µs instead of 10. In 64 bytes
-- there are too few marks for it to matter.
create or replace function fold(words text) returns text language sql immutable parallel safe
  return coalesce(lower(case when octet_length(words) = length(words) then words else regexp_replace(normalize(
    case when octet_length(words) <= 64 then words else thinned(words) end, NFKD), '[\u0300-\u036f]', '', 'g') end), '');

-- Indexes of what is folded in them stay right unless there are such rows: then they are made anew. Words that were written
-- down stay as they are: what is searched has no such runs, and finds in them what it found before.
do $$ begin
  if exists (select from customers where thinned(concat_ws(e'\n', shown_name, company_name, taxpayer_number, email)) <> concat_ws(e'\n', shown_name, company_name, taxpayer_number, email)) then
    reindex index customers_by_name;
    reindex index customers_grams;
  end if;
  if exists (select from items where thinned(concat_ws(e'\n', name, description)) <> concat_ws(e'\n', name, description)) then
    reindex index items_by_name;
    reindex index items_grams;
  end if;
end $$;
