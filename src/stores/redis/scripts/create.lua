-- KEYS[1]: the session. ARGV[3]: idle lifetime; 4: absolute lifetime; 5: until when the user's index lists it; 6…: the
-- other fields and their values.
local expires = math.min(now + math.min(ARGV[3], ARGV[4]), ARGV[5])
redis.call('HSET', KEYS[1], 'created', whole(now), 'lastUsed', whole(now), 'expires', whole(expires),
  'generation', '1', 'issued', whole(now), 'presented', whole(now), 'previous', '0', 'previousOf', '1', 'indexed', ARGV[5], unpack(ARGV, 6))
redis.call('PEXPIREAT', KEYS[1], whole(expires - ahead))
return {'created', now, expires}
