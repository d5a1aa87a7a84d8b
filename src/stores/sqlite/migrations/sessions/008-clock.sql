-- The time that has certainly come (confirmed-time.ts), epoch milliseconds: what ended before it may be deleted. NULL: the
-- file has no session yet.
CREATE TABLE clock (confirmed INTEGER) STRICT;
INSERT INTO clock SELECT max(last_used) FROM sessions;
