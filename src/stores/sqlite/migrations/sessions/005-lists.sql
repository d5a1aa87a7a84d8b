-- Sessions are listed by creation and by last use, and counted by user and method, by indexes alone.
CREATE INDEX sessions_by_created ON sessions (created, id);
CREATE INDEX sessions_by_last_used ON sessions (last_used, id);
CREATE INDEX sessions_by_method ON sessions (method, expires);
DROP INDEX sessions_by_user;
CREATE INDEX sessions_by_user ON sessions (user_id, method, expires);
