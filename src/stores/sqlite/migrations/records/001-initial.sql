-- Instants are epoch milliseconds; lists of scopes are sorted JSON arrays.

CREATE TABLE users (
  id TEXT NOT NULL PRIMARY KEY,
  username TEXT NOT NULL,
  canonical_name TEXT NOT NULL UNIQUE,
  display_name TEXT,
  email TEXT,
  password_hash TEXT,
  scopes TEXT NOT NULL,
  disabled INTEGER NOT NULL,
  created INTEGER NOT NULL,
  last_login INTEGER
) STRICT;

CREATE INDEX users_disabled ON users (id) WHERE disabled = 1;

CREATE TABLE scope_sets (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;

-- set_id may name the built-in set, which has no row: no foreign key.
CREATE TABLE user_scope_sets (
  user_id TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
  set_id TEXT NOT NULL,
  PRIMARY KEY (user_id, set_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX user_scope_sets_by_set ON user_scope_sets (set_id);

-- created_by and parent outlive what they name. hash_format 1: hash is the SHA-256 of the raw key.
CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  hash_format INTEGER NOT NULL DEFAULT 1,
  label TEXT NOT NULL,
  hint TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  parent TEXT,
  expires INTEGER,
  last_used INTEGER,
  -- Never is the far future for an end and the far past for a use.
  expires_order INTEGER NOT NULL GENERATED ALWAYS AS (ifnull(expires, 9007199254740991)) VIRTUAL,
  last_used_order INTEGER NOT NULL GENERATED ALWAYS AS (ifnull(last_used, -9007199254740991)) VIRTUAL
) STRICT;

-- Keyset paging walks one of these; the columns behind the id let counts and filters stay in the index.
CREATE INDEX api_keys_by_created ON api_keys (created, id, expires_order, created_by);
CREATE INDEX api_keys_by_label ON api_keys (label, id);
CREATE INDEX api_keys_by_expires ON api_keys (expires_order, id, created_by);
CREATE INDEX api_keys_by_last_used ON api_keys (last_used_order, id);
CREATE INDEX api_keys_by_owner ON api_keys (created_by, created, id, expires_order);
CREATE INDEX api_keys_by_parent ON api_keys (parent) WHERE parent IS NOT NULL;

CREATE TABLE api_key_scope_sets (
  key_id TEXT NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  set_id TEXT NOT NULL,
  PRIMARY KEY (key_id, set_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_scope_sets_by_set ON api_key_scope_sets (set_id);

CREATE TABLE signing_keys (
  kid TEXT NOT NULL PRIMARY KEY,
  algorithm TEXT NOT NULL,
  private_jwk TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;

CREATE TABLE secrets (
  name TEXT NOT NULL PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;

CREATE TABLE bootstrap (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  open INTEGER NOT NULL,
  token TEXT
) STRICT;

INSERT INTO bootstrap (id, open, token) VALUES (1, 1, NULL);
