-- Hashes of texts: FarmHash's Fingerprint64 (Pike and Alakuijala), which TensorFlow's fast buckets use, and SipHash-2-4 (Aumasson and Bernstein),
-- which its strong ones use. Both are the same on every machine.
local M = {}
local unpack, ult = string.unpack, math.ult
local K0, K1, K2 = 0xc3a5c85c97cb3127, 0xb492b66fbe98f273, 0x9ae16a3b2f90404f
local function rotate(v, n) return v >> n | v << (64 - n) end
local function mix(v) return v ~ v >> 47 end
local function f64(s, i) return (unpack("<i8", s, i + 1)) end -- i counts from 0
local function f32(s, i) return (unpack("<I4", s, i + 1)) end
local function len16(u, v, mul)
  local a = (u ~ v) * mul
  a = a ~ a >> 47
  local b = (v ~ a) * mul
  return (b ~ b >> 47) * mul
end
local function short(s, n)
  local mul = K2 + n * 2
  if n >= 8 then
    local a, b = f64(s, 0) + K2, f64(s, n - 8)
    return len16(rotate(b, 37) * mul + a, (rotate(a, 25) + b) * mul, mul)
  elseif n >= 4 then
    return len16(n + (f32(s, 0) << 3), f32(s, n - 4), mul)
  elseif n > 0 then
    local a, b, c = s:byte(1), s:byte((n >> 1) + 1), s:byte(n)
    return mix((a + (b << 8)) * K2 ~ (n + (c << 2)) * K0) * K2
  end
  return K2
end
local function middle(s, n) -- 17 to 64 bytes
  local mul = K2 + n * 2
  if n <= 32 then
    local a, b, c, d = f64(s, 0) * K1, f64(s, 8), f64(s, n - 8) * mul, f64(s, n - 16) * K2
    return len16(rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + K2, 18) + c, mul)
  end
  local a, b, c, d = f64(s, 0) * K2, f64(s, 8), f64(s, n - 8) * mul, f64(s, n - 16) * K2
  local y = rotate(a + b, 43) + rotate(c, 30) + d
  local z = len16(y, a + rotate(b + K2, 18) + c, mul)
  local e, f = f64(s, 16) * mul, f64(s, 24)
  local g, h = (y + f64(s, n - 32)) * mul, (z + f64(s, n - 24)) * mul
  return len16(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, mul)
end
local function weak(s, i, a, b)
  local w, x, y, z = f64(s, i), f64(s, i + 8), f64(s, i + 16), f64(s, i + 24)
  a = a + w
  b = rotate(b + a + z, 21)
  local c = a
  a = a + x + y
  return a + z, b + rotate(a, 44) + c
end
-- 64 bits as an integer, which may be negative.
function M.fingerprint64(s)
  local n = #s
  if n <= 16 then return short(s, n) elseif n <= 64 then return middle(s, n) end
  local x = 81
  local y = x * K1 + 113
  local z = mix(y * K2 + 113) * K2
  local v1, v2, w1, w2 = 0, 0, 0, 0
  x = x * K2 + f64(s, 0)
  local i, stop = 0, (n - 1) // 64 * 64
  repeat
    x = rotate(x + y + v1 + f64(s, i + 8), 37) * K1
    y = rotate(y + v2 + f64(s, i + 48), 42) * K1
    x = x ~ w2
    y = y + v1 + f64(s, i + 40)
    z = rotate(z + w1, 33) * K1
    v1, v2 = weak(s, i, v2 * K1, x + w1)
    w1, w2 = weak(s, i + 32, z + w2, y + f64(s, i + 16))
    z, x = x, z
    i = i + 64
  until i == stop
  local mul = K1 + ((z & 0xff) << 1)
  i = n - 64
  w1 = w1 + ((n - 1) & 63)
  v1 = v1 + w1
  w1 = w1 + v1
  x = rotate(x + y + v1 + f64(s, i + 8), 37) * mul
  y = rotate(y + v2 + f64(s, i + 48), 42) * mul
  x = x ~ w2 * 9
  y = y + v1 * 9 + f64(s, i + 40)
  z = rotate(z + w1, 33) * mul
  v1, v2 = weak(s, i, v2 * mul, x + w1)
  w1, w2 = weak(s, i + 32, z + w2, y + f64(s, i + 16))
  z, x = x, z
  return len16(len16(v1, w1, mul) + mix(y) * K0 + z, len16(v2, w2, mul) + x, mul)
end
function M.siphash(s, k0, k1)
  local v0, v1, v2, v3 = k0 ~ 0x736f6d6570736575, k1 ~ 0x646f72616e646f6d, k0 ~ 0x6c7967656e657261, k1 ~ 0x7465646279746573
  local function left(v, n) return v << n | v >> (64 - n) end
  local function rounds(n)
    for _ = 1, n do
      v0 = v0 + v1
      v1 = left(v1, 13) ~ v0
      v0 = left(v0, 32)
      v2 = v2 + v3
      v3 = left(v3, 16) ~ v2
      v0 = v0 + v3
      v3 = left(v3, 21) ~ v0
      v2 = v2 + v1
      v1 = left(v1, 17) ~ v2
      v2 = left(v2, 32)
    end
  end
  local n = #s
  for i = 0, n - 8, 8 do
    local m = f64(s, i)
    v3 = v3 ~ m
    rounds(2)
    v0 = v0 ~ m
  end
  local last = n << 56
  for i = n // 8 * 8, n - 1 do last = last | s:byte(i + 1) << 8 * (i % 8) end
  v3 = v3 ~ last
  rounds(2)
  v0 = v0 ~ last
  v2 = v2 ~ 0xff
  rounds(4)
  return v0 ~ v1 ~ v2 ~ v3
end
-- A hash, as a number without sign, modulo n.
function M.bucket(h, n)
  if h >= 0 then return h % n end
  local half = (h >> 1) // n * 2 -- at most one too small
  local r = h - half * n
  while r < 0 or not ult(r, n) do r = r - n end
  return r
end
return M
