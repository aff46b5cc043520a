-- The decoders of Lua's utf8 library. Each takes bytes and returns verdict, offset and code points, four bytes each.
local lua = {}
local pack = function(...)
  local points = { ... }
  for i, point in ipairs(points) do points[i] = string.pack("<I4", point) end
  return table.concat(points)
end

-- `utf8.len` states where the first invalid byte is, counted from 1.
local function len(lax)
  return function(bytes)
    local n, position = utf8.len(bytes, 1, -1, lax)
    if n then return 1, -1 end
    return 0, position - 1
  end
end

-- The others raise an error.
local function points(decode)
  return function(bytes)
    local well_formed, result = pcall(decode, bytes)
    if well_formed then return 1, -1, result end
    if not result:find("invalid UTF%-8 code") then error(result) end
    return 0, -1
  end
end
local function codes(lax)
  return points(function(bytes)
    local all = {}
    for _, point in utf8.codes(bytes, lax) do all[#all + 1] = string.pack("<I4", point) end
    return table.concat(all)
  end)
end
local function codepoint(lax)
  return points(function(bytes) return pack(utf8.codepoint(bytes, 1, -1, lax)) end)
end

lua.len, lua.codes, lua.codepoint = len(false), codes(false), codepoint(false)
lua["len-lax"], lua["codes-lax"], lua["codepoint-lax"] = len(true), codes(true), codepoint(true)
return lua
