-- Lua's utf8 library. Since Lua 5.4 there is a lax mode for values up to 7FFFFFFF; Lua 5.3 has only one mode.
local prefix = _VERSION == "Lua 5.5" and "lua-" or "lua" .. _VERSION:match("%d.%d") .. "-"
local manual = "source=https://www.lua.org/manual/" .. _VERSION:match("%d.%d") .. "/manual.html#6.5\n"
local names, heads, runs = {}, {}, {}
local function entry(name, answers, contract, run)
  name = prefix .. name
  names[#names + 1], runs[name] = name, run
  heads[name] = "name=" .. name .. "\nanswers=" .. answers .. "\ncontract=" .. contract .. " no-output incomplete-is-error\n" .. manual
end
local function text(points)  -- in pieces, because a function takes a limited number of arguments
  local parts = {}
  for i = 1, #points do parts[i] = utf8.char(points[i]) end
  return table.concat(parts)
end
local rejected = function(message) return message:find("invalid UTF%-8 code") end
for _, mode in ipairs(_VERSION == "Lua 5.3" and { "" } or { "", "-lax" }) do
  local lax, grammar = mode == "-lax", mode == "-lax" and "rfc2279" or "rfc3629"
  if _VERSION == "Lua 5.3" then grammar = "rfc3629-with-surrogates" end  -- its manual does not exclude them
  entry("len" .. mode, "verdict offset", grammar, function(b)
    local count, position = utf8.len(b, 1, -1, lax)
    if count then return 1, -1 end
    return 0, position - 1
  end)
  entry("codes" .. mode, "verdict output", grammar, function(b)
    local points = {}
    for _, point in utf8.codes(b, lax) do points[#points + 1] = point end
    return 1, -1, text(points)
  end)
  entry("codepoint" .. mode, "verdict output", grammar, function(b)
    return 1, -1, text({ utf8.codepoint(b, 1, -1, lax) })
  end)
end
local serve = arg[1] and { arg[1] } or names
io.stdout:setvbuf("full")
-- Only the interpreter's banner tells the release; where there is no interpreter, the language's version must do.
local banner = arg[-1] and io.popen(arg[-1] .. " -v 2>&1"):read("a") or _VERSION
io.write("utfuzz 1 frames\npackage=lua\nversion=", banner:match("Lua ([%d.]+)"), "\n")
for _, name in ipairs(serve) do io.write(heads[name]) end
io.write("\n")
io.flush()
local run = runs[serve[1]]
while true do
  local size = io.read(4)
  if not size or #size < 4 then break end
  size = string.unpack("<I4", size)
  local body, at, reply = size > 0 and io.read(size) or "", 1, {}
  while at <= #body do
    local _, _, bytes, after = string.unpack("<B I4 s4", body, at)
    at = after
    local ran, verdict, offset, output = pcall(run, bytes)
    if not ran then verdict, offset, output = rejected(verdict) and 0 or 4, -1, not rejected(verdict) and verdict or nil end
    reply[#reply + 1] = string.pack("<B i4 i4 i4", verdict, offset, -1, output and #output or -1) .. (output or "")
  end
  io.write(string.pack("<s4", table.concat(reply)))
  io.flush()
end
