# Runs lua.lua in the newest Lua that the Python package lupa contains.
import sys
from lupa.lua55 import LuaRuntime

lua = LuaRuntime(encoding="utf-8")
lua.globals().arg = lua.table_from(dict(enumerate(sys.argv[1:], 1)))
lua.execute(open("lua.lua").read())
