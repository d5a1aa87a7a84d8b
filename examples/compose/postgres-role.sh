# The PostgreSQL image runs this once, in an empty database: a role that owns its schema and nothing else.
psql --username postgres --dbname app --set ON_ERROR_STOP=1 <<'SQL'
\set password `cat /run/secrets/records`
CREATE ROLE postern LOGIN PASSWORD :'password';
CREATE SCHEMA acme AUTHORIZATION postern;
SQL
