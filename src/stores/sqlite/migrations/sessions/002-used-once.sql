-- One-time values of sign-ins, and assertions, that have been used; kept until nobody could use them again.
CREATE TABLE used_once (
  id TEXT PRIMARY KEY,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX used_once_by_expires ON used_once (expires);
