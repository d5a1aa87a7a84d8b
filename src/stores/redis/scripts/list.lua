-- Lists a session, or moves it to where it belongs now. KEYS[1]: in which lists sessions are; 2: the mark of one that has
-- just ended; 3: by expiry; 4-7: by creation (all, its method's, its user's, both); 8-11: the same by last use.
-- ARGV[3]: session id; 4: created; 5: last used; 6: expires; 7: what KEYS[1] says of it.
if redis.call('EXISTS', KEYS[2]) == 1 then return {'ended', now, 0} end
local listed = redis.call('ZSCORE', KEYS[8], ARGV[3])
local is_due = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[3]) or 0) <= now
-- Refreshes of one session by two gateways may arrive here in the other order.
if not listed or is_due or tonumber(listed) <= tonumber(ARGV[5]) then
  redis.call('HSET', KEYS[1], ARGV[3], ARGV[7])
  redis.call('ZADD', KEYS[3], ARGV[6], ARGV[3])
  for index = 4, 7 do redis.call('ZADD', KEYS[index], ARGV[4], ARGV[3]) end
  for index = 8, 11 do redis.call('ZADD', KEYS[index], ARGV[5], ARGV[3]) end
  local remaining = ARGV[6] - now
  -- For longer than the session, so that it is renewed seldom.
  for index = 1, 11 do
    if index ~= 2 and redis.call('PTTL', KEYS[index]) < remaining + 30000 then
      redis.call('PEXPIREAT', KEYS[index], whole(now + 2 * math.max(remaining, 0) + 60000 - ahead))
    end
  end
end
return {'listed', now, redis.call('ZCARD', KEYS[10])}
