-- The session that survived the start of the user's epoch: the one by which the user changed the password.
ALTER TABLE users ADD COLUMN carried_session TEXT;
