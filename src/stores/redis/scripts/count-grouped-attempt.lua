-- KEYS[1]: the counters of a group: a hash, "<count> <end of the window>" by name. ARGV[3]: attempts to add, negative to give
-- back; 4: window in seconds; 5: the counter's name. Windows end by the clock of the fields: the key lives as long as the
-- last of them.
local ends = now + ARGV[4] * 1000
local count = 0
local value = redis.call('HMGET', KEYS[1], ARGV[5])[1]
if value then
  local counted, ended = string.match(value, '^(%d+) (%d+)$')
  if tonumber(ended) > now then
    count = tonumber(counted)
    ends = math.min(tonumber(ended), ends)
  end
end
count = count + ARGV[3]
local last = ends
local all = redis.call('HGETALL', KEYS[1])
for index = 1, #all, 2 do
  local ended = tonumber(string.match(all[index + 1], ' (%d+)$'))
  if ended <= now then redis.call('HDEL', KEYS[1], all[index]) else last = math.max(last, ended) end
end
if count > 0 then
  redis.call('HSET', KEYS[1], ARGV[5], whole(count) .. ' ' .. whole(ends))
  redis.call('PEXPIREAT', KEYS[1], whole(last - ahead))
else
  redis.call('HDEL', KEYS[1], ARGV[5])
  count = 0
end
return {'counted', now, count, ends - now}
