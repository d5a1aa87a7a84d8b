-- The generation that the current cookie was made from. It holds for the generation named beside it: processes of the
-- version before, which may still have the file open, rotate without noting it, and theirs is the one below.
ALTER TABLE sessions ADD COLUMN previous INTEGER;
ALTER TABLE sessions ADD COLUMN previous_of INTEGER;
