-- Audit lines of commands, as JSON, until a gateway takes them into its log. Ids ascend with time.
CREATE TABLE command_events (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  entry TEXT COLLATE "C" NOT NULL
);
