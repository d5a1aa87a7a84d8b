-- Audit lines of commands, as JSON, until a gateway takes them into its log. Ids ascend with time.
CREATE TABLE command_events (
  id TEXT NOT NULL PRIMARY KEY,
  entry TEXT NOT NULL
) STRICT, WITHOUT ROWID;
