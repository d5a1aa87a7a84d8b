-- Prepended to scripts that count or list. KEYS[1]: the listed sessions by expiry. Nothing is counted while sessions are on
-- the lists that have expired or are to be checked: the caller takes those off that have ended, and asks again.
local due = redis.call('ZRANGE', KEYS[1], '-inf', whole(now), 'BYSCORE', 'LIMIT', 0, 100)
if #due > 0 then return {'due', now, due} end
