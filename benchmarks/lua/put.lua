-- PUTs of one 150-byte document to BENCH_PATH followed by a random number below BENCH_COUNT or, if that is 0 or
-- missing, by growing numbers after BENCH_FIRST.
local path, count = os.getenv("BENCH_PATH"), tonumber(os.getenv("BENCH_COUNT") or "0")
local body = '{"name":"Ada Lovelace","age":36,"city":"London","joined":"2026-11-21T10:00:00","score":0.123456,"token":"0123456789abcdef","@metadata":{"@collection":"Users"}}'
local tail = " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
-- Each thread has a seed of its own.
local seeded = 0
function setup(thread) seeded = seeded + 1; thread:set("seed", seeded) end
local number = 0
function init() math.randomseed(seed * 104729); number = seed * 100000000 + (tonumber(os.getenv("BENCH_FIRST") or "0")) end
function request()
  local id
  if count > 0 then id = math.random(0, count - 1) else number = number + 1; id = number end
  return "PUT " .. path .. id .. tail
end
