-- Presents a refresh cookie: session-rotation.ts, in one atomic step. KEYS[1]: the session. ARGV[3]: generation;
-- 4: idle lifetime; 5: absolute lifetime; 6: grace; 7: until when the user's index now lists the session, 0 if
-- unchanged; 8: channel of ended sessions; 9: session id; 10: what this clock would show had it not been set back, as the
-- caller estimates it; 11: by how much clocks may differ and count as the same.
local stored = redis.call('HMGET', KEYS[1], 'created', 'expires', 'generation', 'issued', 'presented', 'indexed',
  'lastUsed', 'previous', 'previousOf')
if not stored[1] then return {'gone', now} end
if tonumber(stored[2]) <= now then return {'gone', now} end
local offered, grace = tonumber(ARGV[3]), tonumber(ARGV[6])
-- The session's time: the server's, unless its clock has been set back since the session was last used. `set_back`: what is
-- recorded is moved back by as much, to the time that the clock shows now.
local last_used, unbroken, tolerance = tonumber(stored[7]), tonumber(ARGV[10]), tonumber(ARGV[11])
local at, set_back = now, 0
if last_used > now then
  if last_used - now > tolerance and unbroken >= last_used then
    at, set_back = unbroken, unbroken - now
  elseif last_used - now < math.max(grace, tolerance) then
    at = last_used
  else
    at, set_back = last_used + grace, last_used + grace - now
  end
end
local generation, issued, presented = tonumber(stored[3]), tonumber(stored[4]), tonumber(stored[5])
-- Gateways of the previous version rotate without recording from which generation: then it is the one below.
local previous = stored[9] == stored[3] and tonumber(stored[8]) or generation - 1

local within_grace = at - math.max(issued, presented or issued) < grace
local rotated = 0
local function make_successor()
  generation, previous, issued, presented, rotated = generation + 1, offered, at, nil, 1
end
local reused = false
if offered > generation then
  -- The MAC has vouched for it: the store lost the write that issued this cookie.
  generation, previous, issued, presented = offered, offered - 1, at, at
elseif offered == generation then
  if presented == nil then
    presented = at
  elseif not within_grace then
    make_successor()
  end
elseif offered ~= previous then
  reused = true
elseif not within_grace then
  -- Never presented: its response was lost, and a successor is made. Presented: another party has it.
  if presented == nil then make_successor() else reused = true end
end
if reused then
  local fields = redis.call('HGETALL', KEYS[1])
  redis.call('DEL', KEYS[1])
  redis.call('PUBLISH', ARGV[8], ARGV[9] .. ' ' .. whole(now))
  return {'reused', now, fields}
end

at, issued, presented = at - set_back, issued - set_back, presented and presented - set_back
local expires = math.min(at + ARGV[4], stored[1] + ARGV[5])
local indexed = math.max(stored[6], ARGV[7])
-- The index must list a session for as long as it lives, or ending all of a user's sessions would miss it.
if expires > indexed then
  if ARGV[7] == '0' then return {'reindex', now, redis.call('HMGET', KEYS[1], 'userId', 'issuer', 'subject', 'sid')} end
  -- It has just been indexed, by a clock that was set back by more than the slack.
  expires = indexed
end
redis.call('HSET', KEYS[1], 'lastUsed', whole(at), 'expires', whole(expires), 'generation', whole(generation),
  'issued', whole(issued), 'presented', presented and whole(presented) or '', 'previous', whole(previous),
  'previousOf', whole(generation), 'indexed', whole(indexed))
redis.call('PEXPIREAT', KEYS[1], whole(expires - ahead))
-- A shorter lifetime configured in the meantime may have ended it just now.
if expires <= at then return {'gone', now} end
return {'current', now, redis.call('HGETALL', KEYS[1]), rotated}
