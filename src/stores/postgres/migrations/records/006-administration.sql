-- A record's version grows with every write that changes what is read of it. epoch: sessions that began under an earlier
-- one have ended, whatever the session store says. managed: the configuration's, which nothing else may change.
ALTER TABLE users ADD COLUMN kind TEXT COLLATE "C" NOT NULL DEFAULT 'person';
ALTER TABLE users ADD COLUMN updated BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN managed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
-- Never is the far past.
ALTER TABLE users ADD COLUMN last_login_order BIGINT NOT NULL
  GENERATED ALWAYS AS (coalesce(last_login, -9007199254740991)) STORED;

UPDATE users SET updated = created;

CREATE INDEX users_by_created ON users (created, id);
CREATE INDEX users_by_username ON users (username, id);
CREATE INDEX users_by_last_login ON users (last_login_order, id);

ALTER TABLE scope_sets ADD COLUMN managed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope_sets ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

ALTER TABLE api_keys ADD COLUMN version BIGINT NOT NULL DEFAULT 1;

-- The epoch of all sessions together.
CREATE TABLE tenant_epoch (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  epoch BIGINT NOT NULL
);

INSERT INTO tenant_epoch (id, epoch) VALUES (1, 0);

-- hash is the SHA-256 of the token; maker: who made it, as JSON, for it counts only while that caller may give as much.
CREATE TABLE invitations (
  user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  hash BYTEA NOT NULL UNIQUE,
  maker TEXT COLLATE "C" NOT NULL,
  created BIGINT NOT NULL,
  expires BIGINT NOT NULL
);

-- seq: the order of commits. body: what is not filtered by, as JSON. is_probe: a line of refusals.
CREATE TABLE audit (
  seq BIGINT NOT NULL PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  time BIGINT NOT NULL,
  event TEXT COLLATE "C" NOT NULL,
  outcome TEXT COLLATE "C" NOT NULL,
  actor_kind TEXT COLLATE "C" NOT NULL,
  actor_user TEXT COLLATE "C",
  actor_credential TEXT COLLATE "C",
  target_type TEXT COLLATE "C",
  target_id TEXT COLLATE "C",
  address TEXT COLLATE "C",
  request_id TEXT COLLATE "C",
  is_probe INTEGER NOT NULL,
  body TEXT COLLATE "C" NOT NULL
);

CREATE INDEX audit_by_time ON audit (time, seq);
CREATE INDEX audit_by_event ON audit (event, seq);
CREATE INDEX audit_by_outcome ON audit (outcome, seq);
CREATE INDEX audit_by_actor_user ON audit (actor_user, seq) WHERE actor_user IS NOT NULL;
CREATE INDEX audit_by_actor_credential ON audit (actor_credential, seq) WHERE actor_credential IS NOT NULL;
CREATE INDEX audit_by_target ON audit (target_id, seq) WHERE target_id IS NOT NULL;
CREATE INDEX audit_by_address ON audit (address, seq) WHERE address IS NOT NULL;
CREATE INDEX audit_by_request ON audit (request_id, seq) WHERE request_id IS NOT NULL;
CREATE INDEX audit_probes ON audit (seq) WHERE is_probe = 1;

-- The last number and time that were given, and the highest number that was dropped.
CREATE TABLE audit_state (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  seq BIGINT NOT NULL,
  time BIGINT NOT NULL,
  dropped BIGINT NOT NULL
);

INSERT INTO audit_state (id, seq, time, dropped) VALUES (1, 0, 0, 0);

-- The digest of the users and sets of the configuration that was applied last.
CREATE TABLE applied_config (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  digest TEXT COLLATE "C" NOT NULL,
  applied BIGINT NOT NULL
);
