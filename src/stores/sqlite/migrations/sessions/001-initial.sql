-- Instants are epoch milliseconds. No part of a cookie is kept but the generation.

CREATE TABLE sessions (
  id TEXT NOT NULL PRIMARY KEY,
  user_id TEXT NOT NULL,
  method TEXT NOT NULL,
  scope TEXT,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  issued INTEGER NOT NULL,
  presented INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expires ON sessions (expires);
