// Runs ruby.rb by the Ruby that is compiled to WebAssembly. The arguments are the directory in which it is installed and
// the entry point.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , installed, ...entry] = process.argv;
const { DefaultRubyVM } = createRequire(installed + "/adapter.js")("@ruby/wasm-wasi/dist/node");
const module = await WebAssembly.compile(readFileSync(`${installed}/node_modules/@ruby/3.4-wasm-wasi/dist/ruby+stdlib.wasm`));
const { vm } = await DefaultRubyVM(module, { env: { LC_ALL: "C.UTF-8" } });
vm.eval(`ARGV.replace(${JSON.stringify(entry)})\n` + readFileSync(new URL("ruby.rb", import.meta.url), "utf8"));
process.exit(0);
