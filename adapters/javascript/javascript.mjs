// An adapter for the decoders that Node, Bun and Deno bring with them. With `--major` as the first argument, the names
// say the major version of the runtime.
import { readFileSync, readSync, unlinkSync, writeFileSync, writeSync } from "node:fs";
import * as buffer from "node:buffer";
import { tmpdir } from "node:os";
import * as querystring from "node:querystring";
import { StringDecoder } from "node:string_decoder";

const WHATWG = "https://encoding.spec.whatwg.org/#interface-textdecoder";
const NODE = "https://nodejs.org/api/";
const LOSSY = "rfc3629 U+FFFD incomplete-is-error"; // "replaced by U+FFFD", but it does not say how many
const STANDARD = "rfc3629 maximal-subpart U+FFFD incomplete-is-error";
const STRICT = "rfc3629 no-output incomplete-is-error";
const Buffer = buffer.Buffer;

// A string is passed on as it is, in UTF-16: it may hold lone surrogates.
const answer = (verdict, text) => [verdict, typeof text === "string" ? Buffer.from(text, "utf16le") : text];
const lossy = (text) => answer(2, text);

/** Calls `decode`; an error of this kind says that the input is ill-formed. */
const strict = (kind, decode) => (data) => {
  try {
    return answer(1, decode(data));
  } catch (e) {
    if (e instanceof kind) return [0, null];
    throw e;
  }
};

/** By the standard, the call without `stream` ends a stream, and the object is ready for the next. */
const textDecoder = (options, encoding = "utf-8") => {
  const whole = new TextDecoder(encoding, options);
  const [guard, end] = options.fatal
    ? [(decode) => strict(TypeError, decode), (text) => answer(1, text)]
    : [(decode) => (data) => lossy(decode(data)), lossy];
  const decode = guard((data) => whole.decode(data));
  const open = () => {
    const decoder = new TextDecoder(encoding, options);
    const push = guard((data) => decoder.decode(data, { stream: true }));
    return { push: (data) => push(data), finish: () => guard(() => decoder.decode())() };
  };
  return { decode, open };
};

/** By its documentation, it can be used again after `end`. */
const stringDecoder = (encoding = "utf8") => {
  const decoder = new StringDecoder(encoding);
  return { push: (data) => lossy(decoder.write(data)), finish: () => lossy(decoder.end()) };
};

const percent = Array.from({ length: 256 }, (_, byte) => "%" + (byte + 256).toString(16).slice(1));
const encoded = (data) => Array.from(data, (byte) => percent[byte]).join("");

/** A WebAssembly module with nothing but the import of a function from a module of this name. */
const wasm = (data) => {
  const leb = (n) => (n < 128 ? [n] : [(n % 128) | 128, ...leb(Math.floor(n / 128))]);
  const imports = [1, ...leb(data.length), ...data, 0, 0, 0];
  const types = [1, 4, 1, 0x60, 0, 0];
  return new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...types, 2, ...leb(imports.length), ...imports]);
};

const multipart = async (data) => {
  const part = 'Content-Disposition: form-data; name="a"\r\n\r\n';
  const body = Buffer.concat([Buffer.from("--boundary\r\n" + part), data, Buffer.from("\r\n--boundary--\r\n")]);
  const headers = { "content-type": "multipart/form-data; boundary=boundary" };
  return lossy((await new Response(body, { headers }).formData()).get("a"));
};

/** A stream that is fed byte by byte. */
const byteStream = async (data) => {
  const bytes = Array.from(data, (byte) => Uint8Array.of(byte));
  const source = new ReadableStream({ pull: (c) => (bytes.length ? c.enqueue(bytes.shift()) : c.close()) });
  const reader = source.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let next; !(next = await reader.read()).done; ) text += next.value;
  return lossy(text);
};

const readFile = (data) => {
  const path = `${tmpdir()}/utfuzz-${process.pid}`;
  try {
    writeFileSync(path, data);
    return lossy(readFileSync(path, "utf8"));
  } finally {
    unlinkSync(path);
  }
};

const decoders = {
  "textdecoder": ["output stream", STANDARD + " bom-stripped detected-at-once", WHATWG, textDecoder({})],
  "textdecoder-ignorebom": ["output stream", STANDARD + " bom-kept detected-at-once", WHATWG, textDecoder({ ignoreBOM: true })],
  "textdecoder-fatal": ["verdict output stream", STRICT + " bom-stripped detected-at-once", WHATWG, textDecoder({ fatal: true })],
  "textdecoder-fatal-ignorebom": ["verdict output stream", STRICT + " bom-kept detected-at-once", WHATWG, textDecoder({ fatal: true, ignoreBOM: true })],
  "buffer-tostring": ["output", LOSSY, NODE + "buffer.html#buffers-and-character-encodings", (data) => lossy(Buffer.from(data).toString("utf8"))],
  "string-decoder": ["output stream", LOSSY, NODE + "string_decoder.html", { decode: (data) => { const d = new StringDecoder("utf8"); return lossy(d.write(data) + d.end()); }, open: () => stringDecoder() }],
  "isutf8": ["verdict", STRICT, NODE + "buffer.html#bufferisutf8input", buffer.isUtf8 && ((data) => answer(Number(buffer.isUtf8(data)), null))],
  "transcode": ["verdict output", "", NODE + "buffer.html#buffertranscodesource-fromenc-toenc", buffer.transcode && strict(Error, (data) => buffer.transcode(data, "utf8", "utf16le"))],
  "decodeuricomponent": ["verdict output", STRICT, "https://tc39.es/ecma262/#sec-decode", strict(URIError, (data) => decodeURIComponent(encoded(data)))],
  "querystring-unescape": ["output", "", NODE + "querystring.html#querystringunescapestr", (data) => lossy(querystring.unescape(encoded(data)))],
  "querystring-parse": ["output", "", NODE + "querystring.html#querystringparsestr-sep-eq-options", (data) => lossy(querystring.parse("a=" + encoded(data)).a)],
  "urlsearchparams": ["output", STANDARD, "https://url.spec.whatwg.org/#concept-urlencoded-parser", (data) => lossy(new URLSearchParams("a=" + encoded(data)).get("a"))],
  "response-text": ["output", STANDARD + " bom-stripped", "https://fetch.spec.whatwg.org/#dom-body-text", async (data) => lossy(await new Response(data).text())],
  "blob-text": ["output", STANDARD + " bom-stripped", "https://w3c.github.io/FileAPI/#dom-blob-text", async (data) => lossy(await new Blob([data]).text())],
  "formdata": ["output", STANDARD, "https://fetch.spec.whatwg.org/#dom-body-formdata", async (data) => lossy((await new Response("a=" + encoded(data), { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData()).get("a"))],
  "formdata-multipart": ["output", STANDARD, "https://fetch.spec.whatwg.org/#dom-body-formdata", multipart],
  "textdecoderstream-bytes": ["output", STANDARD + " bom-stripped", "https://encoding.spec.whatwg.org/#interface-textdecoderstream", globalThis.TextDecoderStream && byteStream],
  "readfile": ["output", LOSSY, NODE + "fs.html#fsreadfilesyncpath-options", readFile],
  "wasm-name": ["verdict output", STRICT, "https://webassembly.github.io/spec/core/binary/values.html#names", strict(WebAssembly.CompileError, (data) => WebAssembly.Module.imports(new WebAssembly.Module(wasm(data)))[0].module)],
};
for (const encoding of ["utf-16le", "utf-16be"]) {
  for (const fatal of [false, true]) {
    for (const ignoreBOM of [false, true]) {
      const name = `${encoding}-textdecoder${fatal ? "-fatal" : ""}${ignoreBOM ? "-ignorebom" : ""}`;
      try {
        const decoder = textDecoder({ fatal, ignoreBOM }, encoding);
        decoders[name] = [fatal ? "verdict output stream" : "output stream", "", WHATWG, decoder, encoding];
      } catch {} // the runtime does not have this encoding
    }
  }
}
const utf16 = { decode: (data) => { const d = new StringDecoder("utf16le"); return lossy(d.write(data) + d.end()); }, open: () => stringDecoder("utf16le") };
decoders["utf-16le-buffer-tostring"] = ["output", "", NODE + "buffer.html#buffers-and-character-encodings", (data) => lossy(Buffer.from(data).toString("utf16le")), "utf-16le"];
decoders["utf-16le-string-decoder"] = ["output stream", "", NODE + "string_decoder.html", utf16, "utf-16le"];

const runtime = globalThis.Deno ? "deno" : process.versions.bun ? "bun" : "node";
const version = globalThis.Deno ? Deno.version.deno : process.versions[runtime];
const engine = runtime === "bun" ? "jsc" : "v8";
// Whose code it is, where that is known; the lossy decoders are in part the engine's and in part the runtime's.
const lineages = {
  node: { "textdecoder-fatal": "simdutf", "textdecoder-fatal-ignorebom": "simdutf", "isutf8": "simdutf" },
  bun: { "isutf8": "simdutf" },
  deno: { "textdecoder-fatal": "encoding_rs", "textdecoder-fatal-ignorebom": "encoding_rs" },
}[runtime];
Object.assign(lineages, { "decodeuricomponent": engine, "wasm-name": engine });
const args = process.argv.slice(2);
const prefix = runtime + (args[0] === "--major" ? parseInt(version) : "") + "-";
const wanted = args.filter((arg) => arg !== "--major")[0];
const entries = Object.entries(decoders).filter(([name, e]) => e[3] && (!wanted || wanted === prefix + name));

const write = (bytes) => {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (e) {
      if (e.code !== "EAGAIN") throw e;
    }
  }
};
const read = (size) => {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    try {
      const n = readSync(0, bytes, at, size - at, null);
      if (n === 0) return null;
      at += n;
    } catch (e) {
      if (e.code === "EOF") return null;
      if (e.code !== "EAGAIN") throw e;
    }
  }
  return bytes;
};

const inside = ["v8", "webkit", "icu", "simdutf"].filter((part) => process.versions[part]).map((part) => part + " " + process.versions[part]);
let greeting = `utfuzz 1 frames\npackage=${runtime}\nversion=${version}\nenvironment=${inside.join(", ")}\n`;
for (const [name, [answers, contract, source, , encoding]] of entries) {
  greeting += `name=${prefix}${name}\nanswers=${answers}\noutput=utf-16le\nsource=${source}\n` + (contract && `contract=${contract}\n`);
  if (encoding) greeting += `encoding=${encoding}\n`;
  if (lineages[name]) greeting += `lineage=${lineages[name]}\n`;
}
write(Buffer.from(greeting + "\n"));

const entry = entries[0]?.[1][3];
const { decode, open } = typeof entry === "function" ? { decode: entry } : entry;
const streams = new Map();
for (let size; (size = read(4)); ) {
  const body = read(size.readUInt32LE());
  const replies = [];
  for (let at = 0; at < body.length; ) {
    const [operation, stream, length] = [body[at], body.readUInt32LE(at + 1), body.readUInt32LE(at + 5)];
    const data = new Uint8Array(body.subarray(at + 9, (at += 9 + length))); // a copy, as the next batch has another buffer
    let verdict, text;
    try {
      if (operation === 1 || operation === 2) {
        if (!streams.has(stream)) streams.set(stream, open());
        [verdict, text] = operation === 1 ? streams.get(stream).push(data) : streams.get(stream).finish();
        if (operation === 1 && verdict === 1) verdict = 2;
      } else if (operation === 0) {
        const result = decode(data);
        [verdict, text] = result instanceof Promise ? await result : result;
      } else {
        streams.delete(stream);
        verdict = 2;
      }
    } catch (e) {
      [verdict, text] = [4, Buffer.from(String(e))];
    }
    const head = Buffer.alloc(13, 255);
    head[0] = verdict;
    head.writeInt32LE(text ? text.length : -1, 9);
    replies.push(head);
    if (text) replies.push(text);
  }
  const reply = Buffer.concat(replies);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(reply.length);
  write(Buffer.concat([head, reply]));
}
