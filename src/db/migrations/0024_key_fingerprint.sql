-- Which master key is this database's, so that another one is refused also before anything was sealed with it. Derived
-- from the key (HKDF, then HMAC): it opens nothing. Null until the first start with it.

set local role certo_owner;
set local search_path = certo, public;

alter table installation add column key_fingerprint bytea check (octet_length(key_fingerprint) = 32);
