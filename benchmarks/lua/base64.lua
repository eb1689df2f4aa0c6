-- Base64, the encoding of keys and values in etcd's JSON gateway.
local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local function letter(n) return letters:sub(n + 1, n + 1) end
return function(text)
  local out = {}
  for i = 1, #text, 3 do
    local a, b, c = text:byte(i, i + 2)
    local n = a * 65536 + (b or 0) * 256 + (c or 0)
    out[#out + 1] = letter(math.floor(n / 262144)) .. letter(math.floor(n / 4096) % 64) ..
      (b and letter(math.floor(n / 64) % 64) or "=") .. (c and letter(n % 64) or "=")
  end
  return table.concat(out)
end
