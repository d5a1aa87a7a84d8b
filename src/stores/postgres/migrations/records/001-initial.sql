-- Instants are epoch milliseconds; lists of scopes are sorted JSON arrays. Texts compare and order by code points, and
-- lower() folds ASCII alone, in every database: all have the collation "C".

CREATE TABLE postern_migrations (
  number INTEGER NOT NULL PRIMARY KEY,
  applied TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- version counts the changes of anything a remembered identity rests on. Every writer locks the row first, so that the
-- order of versions is the order of commits.
CREATE TABLE store_state (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  version BIGINT NOT NULL
);

INSERT INTO store_state (id, version) VALUES (1, 0);

CREATE TABLE users (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  username TEXT COLLATE "C" NOT NULL,
  canonical_name TEXT COLLATE "C" NOT NULL UNIQUE,
  display_name TEXT COLLATE "C",
  email TEXT COLLATE "C",
  password_hash TEXT COLLATE "C",
  scopes TEXT COLLATE "C" NOT NULL,
  disabled INTEGER NOT NULL,
  created BIGINT NOT NULL,
  last_login BIGINT
);

CREATE INDEX users_disabled ON users (id) WHERE disabled = 1;

CREATE TABLE scope_sets (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL UNIQUE,
  description TEXT COLLATE "C" NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  created BIGINT NOT NULL,
  updated BIGINT NOT NULL
);

-- set_id may name the built-in set, which has no row: no foreign key.
CREATE TABLE user_scope_sets (
  user_id TEXT COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  set_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (user_id, set_id)
);

CREATE INDEX user_scope_sets_by_set ON user_scope_sets (set_id);

-- created_by and parent outlive what they name. hash_format 1: hash is the SHA-256 of the raw key.
CREATE TABLE api_keys (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  hash BYTEA NOT NULL UNIQUE,
  hash_format INTEGER NOT NULL DEFAULT 1,
  label TEXT COLLATE "C" NOT NULL,
  hint TEXT COLLATE "C" NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  created BIGINT NOT NULL,
  created_by TEXT COLLATE "C" NOT NULL,
  parent TEXT COLLATE "C",
  expires BIGINT,
  last_used BIGINT,
  -- Never is the far future for an end and the far past for a use.
  expires_order BIGINT NOT NULL GENERATED ALWAYS AS (coalesce(expires, 9007199254740991)) STORED,
  last_used_order BIGINT NOT NULL GENERATED ALWAYS AS (coalesce(last_used, -9007199254740991)) STORED
);

-- Keyset paging walks one of these; the columns behind the id let counts and filters stay in the index.
CREATE INDEX api_keys_by_created ON api_keys (created, id, expires_order, created_by);
CREATE INDEX api_keys_by_label ON api_keys (label, id);
CREATE INDEX api_keys_by_expires ON api_keys (expires_order, id, created_by);
CREATE INDEX api_keys_by_last_used ON api_keys (last_used_order, id);
CREATE INDEX api_keys_by_owner ON api_keys (created_by, created, id, expires_order);
CREATE INDEX api_keys_by_parent ON api_keys (parent) WHERE parent IS NOT NULL;

CREATE TABLE api_key_scope_sets (
  key_id TEXT COLLATE "C" NOT NULL REFERENCES api_keys ON DELETE CASCADE,
  set_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (key_id, set_id)
);

CREATE INDEX api_key_scope_sets_by_set ON api_key_scope_sets (set_id);

CREATE TABLE signing_keys (
  kid TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  algorithm TEXT COLLATE "C" NOT NULL,
  private_jwk TEXT COLLATE "C" NOT NULL,
  created BIGINT NOT NULL
);

CREATE TABLE secrets (
  name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  value BYTEA NOT NULL
);

CREATE TABLE bootstrap (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  open INTEGER NOT NULL,
  token TEXT COLLATE "C"
);

INSERT INTO bootstrap (id, open, token) VALUES (1, 1, NULL);
