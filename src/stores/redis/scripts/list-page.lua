-- Reads one page of a list, by ranks alone: no more entries than asked for are visited. KEYS[1]: see due.lua; 2: the list,
-- session ids by instants. ARGV[3]-[6]: the range that counts (gte, gt, lte, lt), each empty if unbounded; 7: `up` or `down`, the
-- direction to read in; 8, 9: instant and id of the position to start from, empty: the end; 10: `1` to include it; 11: how
-- many entries at most.
local list = KEYS[2]
local function below(bound) return redis.call('ZCOUNT', list, '-inf', bound) end

local first, past = 0, redis.call('ZCARD', list)
if ARGV[3] ~= '' then first = math.max(first, below('(' .. ARGV[3])) end
if ARGV[4] ~= '' then first = math.max(first, below(ARGV[4])) end
if ARGV[5] ~= '' then past = math.min(past, below(ARGV[5])) end
if ARGV[6] ~= '' then past = math.min(past, below('(' .. ARGV[6])) end
past = math.max(past, first)

-- As Redis orders members; Lua's own comparison follows the server's locale.
local function precedes(one, other)
  for index = 1, math.min(#one, #other) do
    local a, b = one:byte(index), other:byte(index)
    if a ~= b then return a < b end
  end
  return #one < #other
end

-- The rank of the position, whether its entry is still there or not: among the entries of its instant by bisection.
local function rank_of(instant, id)
  local low, high = below('(' .. instant), below(instant)
  local last = high
  while low < high do
    local middle = math.floor((low + high) / 2)
    if precedes(redis.call('ZRANGE', list, middle, middle)[1], id) then low = middle + 1 else high = middle end
  end
  local is_there = low < last and redis.call('ZRANGE', list, low, low)[1] == id
  return low, is_there
end

local from, to = first, past
local is_up, includes = ARGV[7] == 'up', ARGV[10] == '1'
if ARGV[8] ~= '' then
  local rank, is_there = rank_of(ARGV[8], ARGV[9])
  -- Upwards without the entry, and downwards with it, the boundary is after the entry.
  local boundary = (is_there and is_up ~= includes) and rank + 1 or rank
  boundary = math.min(math.max(boundary, first), past)
  if is_up then from = boundary else to = boundary end
end
local size = tonumber(ARGV[11])
local start = is_up and from or math.max(from, to - size)
local stop = is_up and math.min(to, from + size) or to
local entries = {}
if stop > start then entries = redis.call('ZRANGE', list, start, stop - 1, 'WITHSCORES') end
return {'page', now, past - first, start - first, past - stop, entries}
