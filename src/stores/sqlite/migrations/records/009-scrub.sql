-- Whether the file is still to be rewritten, because it held in plain text what is encrypted now.
CREATE TABLE scrub (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  is_due INTEGER NOT NULL
) STRICT;

INSERT INTO scrub (id, is_due) VALUES (1, 0);
