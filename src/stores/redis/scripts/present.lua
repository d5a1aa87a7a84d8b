-- Presents a refresh cookie: session-rotation.ts, in one atomic step. KEYS[1]: the session. ARGV[3]: generation;
-- 4: idle lifetime; 5: absolute lifetime; 6: grace; 7: until when the user's index now knows the session, 0 for as
-- before; 8: channel of endings; 9: session id.
local stored = redis.call('HMGET', KEYS[1], 'created', 'expires', 'generation', 'issued', 'presented', 'indexed')
if not stored[1] or tonumber(stored[2]) <= now then return {'gone', now} end
local offered, grace = tonumber(ARGV[3]), tonumber(ARGV[6])
local generation, issued, presented = tonumber(stored[3]), tonumber(stored[4]), tonumber(stored[5])

-- An unpresented cookie may never have arrived: its grace hasn't begun to run out.
local within_grace = presented == nil or now - math.max(issued, presented) < grace
local rotated = 0
if offered > generation then
  -- The MAC has vouched for it: the store lost the write that issued this cookie.
  generation, issued, presented = offered, now, now
elseif offered == generation then
  if presented == nil then
    presented = now
  elseif not within_grace then
    generation, issued, presented, rotated = generation + 1, now, nil, 1
  end
elseif offered < generation - 1 or not within_grace then
  local fields = redis.call('HGETALL', KEYS[1])
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', ARGV[8], ARGV[9] .. ' ' .. whole(now))
  return {'reused', now, fields}
end

local expires = math.min(now + ARGV[4], stored[1] + ARGV[5])
local indexed = math.max(stored[6], ARGV[7])
-- The index must know a session for as long as it lives, or ending all of a user's would miss it.
if expires > indexed then return {'reindex', now, redis.call('HGET', KEYS[1], 'userId')} end
redis.call('HSET', KEYS[1], 'lastUsed', whole(now), 'expires', whole(expires), 'generation', whole(generation),
  'issued', whole(issued), 'presented', presented and whole(presented) or '', 'indexed', whole(indexed))
redis.call('PEXPIREAT', KEYS[1], whole(expires - ahead))
-- A lifetime configured shorter since may have ended it just now.
if expires <= now then return {'gone', now} end
return {'current', now, redis.call('HGETALL', KEYS[1]), rotated}
