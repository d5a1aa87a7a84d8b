-- KEYS[1]: the counter. ARGV[3]: attempts to add, negative to give back; 4: window in seconds. A counter that drops to
-- zero is deleted, so that giving back after the window earns no credit.
redis.call('SET', KEYS[1], '0', 'EX', ARGV[4], 'NX')
local count = redis.call('INCRBY', KEYS[1], ARGV[3])
local remaining = redis.call('PTTL', KEYS[1])
if count <= 0 then
  redis.call('DEL', KEYS[1])
  count = 0
end
return {'counted', now, count, remaining}
