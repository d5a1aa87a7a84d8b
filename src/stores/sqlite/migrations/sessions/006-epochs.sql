-- The epoch of the user when the session began; it has ended once the user's record says a later one.
ALTER TABLE sessions ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
