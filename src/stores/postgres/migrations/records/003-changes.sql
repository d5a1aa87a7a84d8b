-- The newest changes by the version each led to: a process that missed a notification reads here what to forget. The mark
-- tells apart two histories with the same numbers, as a fail-over can leave behind.
CREATE TABLE changes (
  version BIGINT NOT NULL PRIMARY KEY,
  mark UUID NOT NULL DEFAULT gen_random_uuid(),
  hints TEXT COLLATE "C" NOT NULL
);

INSERT INTO changes (version, hints) SELECT version, '*' FROM store_state;
