-- Counters of failed attempts. `ends` is when the window is over, and the counter with it.
CREATE TABLE attempts (
  key TEXT NOT NULL PRIMARY KEY,
  count INTEGER NOT NULL,
  ends INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_by_ends ON attempts (ends);
