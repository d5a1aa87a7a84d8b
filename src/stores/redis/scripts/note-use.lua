-- Counts a use of a session without its cookie. KEYS[1]: the session. ARGV[3]: when it was used; 4: idle lifetime;
-- 5: absolute lifetime; 6: until when the indexes now list the session, 0 if unchanged.
local stored = redis.call('HMGET', KEYS[1], 'created', 'expires', 'lastUsed', 'indexed', 'userId', 'method')
local at = math.min(now, ARGV[3])
if not stored[1] or tonumber(stored[2]) <= now or at <= tonumber(stored[3]) then return {'unchanged', now} end

local expires = math.min(at + ARGV[4], stored[1] + ARGV[5])
-- As in present.lua.
local indexed = math.max(stored[4], ARGV[6])
if expires > indexed then
  if ARGV[6] == '0' then return {'reindex', now, redis.call('HMGET', KEYS[1], 'userId', 'issuer', 'subject', 'sid')} end
  expires = indexed
end
redis.call('HSET', KEYS[1], 'lastUsed', whole(at), 'expires', whole(expires), 'indexed', whole(indexed))
redis.call('PEXPIREAT', KEYS[1], whole(expires - ahead))
-- A shorter lifetime configured in the meantime may have ended it just now.
return {'used', now, {stored[1], whole(at), whole(expires), stored[5], stored[6]}}
