// An adapter for the decoders in packages of npm, some of them pure JavaScript. The first argument is the directory in
// which the packages are installed; the entry point follows.
import { readFileSync, readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";

const WHATWG = "https://encoding.spec.whatwg.org/#interface-textdecoder";
const GITHUB = "https://github.com/";
const STANDARD = "rfc3629 maximal-subpart U+FFFD incomplete-is-error";
const LOSSY = "rfc3629 any-segmentation"; // "replaced by U+FFFD", but it does not say how many
const NODE = "rfc3629 U+FFFD incomplete-is-error"; // as the module of Node with the same name
const STRICT = "rfc3629 no-output incomplete-is-error";
const WELL_FORMED = "rfc3629 well-formed-only U+FFFD"; // text comes back unchanged; of ill-formed bytes nothing is said
const WELL_FORMED_STRICT = "rfc3629 well-formed-only no-output";
const [, , installed, wanted] = process.argv;
const require = createRequire(installed + "/adapter.js");
const at = (path) => import(pathToFileURL(`${installed}/node_modules/${path}`));

// A string is passed on as it is, in UTF-16: it may hold lone surrogates.
const answer = (verdict, text) => [verdict, typeof text === "string" ? Buffer.from(text, "utf16le") : null];
const lossy = (decode) => (data) => answer(2, decode(data));
/** What throws is taken as a rejection. Errors of the language itself, such as a wrong type, are not. */
const strict = (decode) => (data) => {
  try {
    return answer(1, decode(data));
  } catch (e) {
    if (e instanceof ReferenceError) throw e;
    return [0, null];
  }
};

/** The interface of the Encoding Standard: the call without `stream` ends a stream, and the object is ready for the next. */
const textDecoder = (TextDecoder, options) => {
  const guard = options.fatal ? strict : lossy;
  const whole = new TextDecoder("utf-8", options);
  const open = () => {
    const decoder = new TextDecoder("utf-8", options);
    return { push: guard((data) => decoder.decode(data, { stream: true })), finish: guard(() => decoder.decode()) };
  };
  return { decode: guard((data) => whole.decode(data)), open };
};
/** The interface of Node's string decoder and of iconv-lite: `write` and `end`. */
const written = (make) => {
  const decode = lossy((data) => {
    const decoder = make();
    return decoder.write(data) + (decoder.end() ?? "");
  });
  const open = () => {
    let decoder = make();
    const finish = () => {
      const text = decoder.end() ?? "";
      decoder = make();
      return text;
    };
    return { push: lossy((data) => decoder.write(data)), finish: lossy(finish) };
  };
  return { decode, open };
};

const bytes = (...parts) => Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part))));
const u32 = (n, method) => {
  const buffer = Buffer.alloc(4);
  buffer[method](n);
  return buffer;
};
const little = (n) => u32(n, "writeUInt32LE");
const big = (n) => u32(n, "writeUInt32BE");
/** The shortest header for a string in CBOR and in MessagePack, and the varint of Protocol Buffers. */
const cbor = (d) => bytes(d.length < 24 ? 0x60 + d.length : d.length < 256 ? [0x78, d.length] : bytes(0x7a, big(d.length)), d);
const msgpack = (d) => bytes(d.length < 32 ? 0xa0 + d.length : d.length < 256 ? [0xd9, d.length] : bytes(0xdb, big(d.length)), d);
const varint = (n) => (n < 128 ? [n] : [(n % 128) | 128, ...varint(Math.floor(n / 128))]);
const flatbuffer = (d) => bytes(little(4), little(d.length), d, 0);
const bson = (d) => bytes(little(d.length + 13), 2, [97, 0], little(d.length + 1), d, 0, 0);
const percent = (d) => Array.from(d, (byte) => "%" + (byte + 256).toString(16).slice(1).toUpperCase()).join("");

const polyfill = (make) => ({
  "": ["output stream", STANDARD + " bom-stripped detected-at-once", WHATWG, async () => textDecoder(await make(), {})],
  "-ignorebom": ["output stream", STANDARD + " bom-kept detected-at-once", WHATWG, async () => textDecoder(await make(), { ignoreBOM: true })],
  "-fatal": ["verdict output stream", STRICT + " bom-stripped detected-at-once", WHATWG, async () => textDecoder(await make(), { fatal: true })],
});
const protobuf = (name) => (data) => {
  const reader = new (require("google-protobuf").BinaryReader)(bytes(10, varint(data.length), data));
  reader.nextField();
  return reader[name]();
};
const fastText = (others) => () => {
  const scope = runInNewContext(readFileSync(require.resolve("fast-text-encoding"), "utf8") + "; globalThis", { window: {}, Uint8Array, ...others });
  return textDecoder(scope.TextDecoder ?? scope.window.TextDecoder, {});
};

// The package, then for each function: the answers, the contract, its source, and what makes the decoder.
const packages = {
  "text-encoding": polyfill(() => require("text-encoding").TextDecoder),
  "@sinonjs/text-encoding": polyfill(() => require("@sinonjs/text-encoding").TextDecoder),
  "@zxing/text-encoding": polyfill(() => require("@zxing/text-encoding").TextDecoder),
  "fast-text-encoding": {
    "": ["output", STANDARD + " bom-stripped", WHATWG, fastText({})], // as in a browser that has neither Buffer nor Blob
    "-node": ["output", STANDARD + " bom-stripped", WHATWG, fastText({ Buffer }), "node"],
  },
  "@exodus/bytes": {
    "-utf8tostring": ["verdict output", STRICT, "https://exodusoss.github.io/bytes/", async () => strict((await at("@exodus/bytes/utf8.node.js")).utf8toString), "node"],
    "-utf8tostringloose": ["output", STANDARD, "https://exodusoss.github.io/bytes/", async () => lossy((await at("@exodus/bytes/utf8.node.js")).utf8toStringLoose), "node"],
    "-fallback": ["verdict output", STRICT, "https://exodusoss.github.io/bytes/", async () => { const { decode } = await at("@exodus/bytes/fallback/utf8.js"); return strict((data) => decode(data, false)); }],
    "-fallback-loose": ["output", STANDARD, "https://exodusoss.github.io/bytes/", async () => { const { decode } = await at("@exodus/bytes/fallback/utf8.js"); return lossy((data) => decode(data, true)); }],
    ...Object.fromEntries(Object.entries(polyfill(async () => (await at("@exodus/bytes/encoding.js")).TextDecoder)).map(([name, e]) => ["-textdecoder" + name, [...e, "node"]])),
  },
  "iconv-lite": {
    "-utf8": ["output stream", LOSSY + " bom-stripped", GITHUB + "pillarjs/iconv-lite#bom-handling", () => ({ ...written(() => require("iconv-lite").getDecoder("utf8")), decode: lossy((data) => require("iconv-lite").decode(data, "utf8")) }), "node"],
    "-utf8-keep-bom": ["output stream", LOSSY, GITHUB + "pillarjs/iconv-lite#bom-handling", () => ({ ...written(() => require("iconv-lite").getDecoder("utf8", { stripBOM: false })), decode: lossy((data) => require("iconv-lite").decode(data, "utf8", { stripBOM: false })) }), "node"],
    "-cesu8": ["output stream", "cesu-8 any-segmentation", GITHUB + "pillarjs/iconv-lite#supported-encodings", () => ({ ...written(() => require("iconv-lite").getDecoder("cesu8")), decode: lossy((data) => require("iconv-lite").decode(data, "cesu8")) })],
  },
  "string_decoder": { "": ["output stream", NODE, "https://nodejs.org/api/string_decoder.html", () => written(() => new (require("string_decoder/").StringDecoder)("utf8"))] },
  "buffer": { "-tostring": ["output", NODE, "https://nodejs.org/api/buffer.html#buffers-and-character-encodings", () => { const { Buffer } = require("buffer/"); return lossy((data) => Buffer.from(data).toString("utf8")); }] },
  "utf8": { "-decode": ["verdict output", STRICT, GITHUB + "mathiasbynens/utf8.js#utf8decodebytestring", () => strict((data) => require("utf8").decode(data.toString("latin1")))] },
  "utf-8-validate": {
    "": ["verdict", STRICT, GITHUB + "websockets/utf-8-validate#isvalidutf8buffer", () => (data) => [Number(require("utf-8-validate")(data)), null]],
    "-fallback": ["verdict", STRICT, GITHUB + "websockets/utf-8-validate#isvalidutf8buffer", () => (data) => [Number(require("utf-8-validate/fallback.js")(data)), null]],
  },
  "@stablelib/utf8": { "-decode": ["verdict output", STRICT, "https://www.stablelib.com/modules/_stablelib_utf8.html", async () => strict((await at("@stablelib/utf8/lib/utf8.js")).decode)] },
  "ethers": {
    "-toutf8string": ["verdict output", STRICT, "https://docs.ethers.org/v6/api/utils/#Utf8ErrorFuncs", () => strict((data) => require("ethers").toUtf8String(data))],
    "-toutf8string-replace": ["output", WELL_FORMED, "https://docs.ethers.org/v6/api/utils/#Utf8ErrorFuncs", () => lossy((data) => require("ethers").toUtf8String(data, require("ethers").Utf8ErrorFuncs.replace))],
    "-toutf8string-ignore": ["output", "rfc3629-with-overlong drop incomplete-is-error", "https://docs.ethers.org/v6/api/utils/#Utf8ErrorFuncs", () => lossy((data) => require("ethers").toUtf8String(data, require("ethers").Utf8ErrorFuncs.ignore))],
  },
  "bson": {
    "-deserialize": ["verdict output", STRICT, GITHUB + "mongodb/js-bson#bsondeserializebuffer-options", () => strict((data) => require("bson").deserialize(bson(data)).a), "node"],
    "-deserialize-unvalidated": ["output", WELL_FORMED, GITHUB + "mongodb/js-bson#bsondeserializebuffer-options", () => lossy((data) => require("bson").deserialize(bson(data), { validation: { utf8: false } }).a), "node"],
  },
  "msgpackr": { "-unpack": ["output", WELL_FORMED, GITHUB + "kriszyp/msgpackr#readme", () => lossy((data) => require("msgpackr").unpack(msgpack(data)))] },
  "@msgpack/msgpack": { "-decode": ["output", WELL_FORMED, GITHUB + "msgpack/msgpack-javascript#readme", () => lossy((data) => require("@msgpack/msgpack").decode(msgpack(data)))] },
  "cbor-x": { "-decode": ["output", WELL_FORMED, GITHUB + "kriszyp/cbor-x#readme", () => lossy((data) => require("cbor-x").decode(cbor(data)))] },
  "cbor": { "-decode": ["verdict output", WELL_FORMED_STRICT, GITHUB + "hildjj/node-cbor#readme", () => strict((data) => require("cbor").decodeFirstSync(cbor(data))), "node"] },
  "cborg": { "-decode": ["output", WELL_FORMED, GITHUB + "rvagg/cborg#readme", async () => { const { decode } = await at("cborg/cborg.js"); return lossy((data) => decode(cbor(data))); }, "node"] },
  "protobufjs": {
    "-utf8-read": ["output", WELL_FORMED, "https://protobufjs.github.io/protobuf.js/util.utf8.html", () => lossy((data) => require("protobufjs").util.utf8.read(data, 0, data.length)), "node"],
    "-utf8-readstrict": ["verdict output", STRICT, "https://protobufjs.github.io/protobuf.js/util.utf8.html", () => strict((data) => require("protobufjs").util.utf8.readStrict(data, 0, data.length)), "node"],
    "-reader-string": ["output", WELL_FORMED, "https://protobufjs.github.io/protobuf.js/Reader.html#string", () => lossy((data) => require("protobufjs").Reader.create(bytes(varint(data.length), data)).string()), "node"],
  },
  "google-protobuf": {
    "-readstring": ["verdict output", WELL_FORMED_STRICT, "https://protobuf.dev/reference/javascript/javascript-generated/", () => strict(protobuf("readString")), "node"],
    "-readstringrequireutf8": ["verdict output", STRICT, "https://protobuf.dev/programming-guides/proto3/#scalar", () => strict(protobuf("readStringRequireUtf8")), "node"],
  },
  "@bufbuild/protobuf": {
    "-string": ["output", LOSSY, GITHUB + "bufbuild/protobuf-es/blob/main/packages/protobuf/src/wire/text-encoding.ts", async () => { const { BinaryReader } = await at("@bufbuild/protobuf/dist/esm/wire/index.js"); return lossy((data) => new BinaryReader(bytes(varint(data.length), data)).string()); }, "node"],
    "-string-strict": ["verdict output", STRICT, GITHUB + "bufbuild/protobuf-es/blob/main/packages/protobuf/src/wire/text-encoding.ts", async () => { const { BinaryReader } = await at("@bufbuild/protobuf/dist/esm/wire/index.js"); return strict((data) => new BinaryReader(bytes(varint(data.length), data)).string(true)); }, "node"],
  },
  "flatbuffers": { "-string": ["output", WELL_FORMED, "https://flatbuffers.dev/", () => lossy((data) => new (require("flatbuffers").ByteBuffer)(flatbuffer(data)).__string(0)), "node"] },
  "text-decoder": { "": ["output stream", "", GITHUB + "holepunchto/text-decoder#readme", () => written(() => { const d = new (require("text-decoder"))("utf8"); return { write: (data) => d.push(data), end: () => d.end() }; })] },
  "b4a": { "-browser-tostring": ["output", WELL_FORMED, GITHUB + "holepunchto/b4a#readme", async () => { const { toString } = (await at("b4a/browser.js")).default; return lossy((data) => toString(new Uint8Array(data), "utf8")); }, "node"] },
  "pbf": { "-readstring": ["output", WELL_FORMED, GITHUB + "mapbox/pbf#readme", async () => { const { PbfReader, default: Pbf = PbfReader } = await at("pbf/index.js"); return lossy((data) => new Pbf(bytes(varint(data.length), data)).readString()); }] },
  "notepack.io": {
    "-decode": ["output", WELL_FORMED, GITHUB + "darrachequesne/notepack#readme", () => lossy((data) => require("notepack.io").decode(msgpack(data))), "node"],
    "-browser-decode": ["verdict output", WELL_FORMED_STRICT, GITHUB + "darrachequesne/notepack#readme", () => strict((data) => require("notepack.io/browser/decode.js")(new Uint8Array(msgpack(data))))],
  },
  "msgpack-lite": { "-decode": ["output", WELL_FORMED, GITHUB + "kawanet/msgpack-lite#readme", () => lossy((data) => require("msgpack-lite").decode(msgpack(data)))] },
  "cbor-js": { "-decode": ["verdict output", WELL_FORMED_STRICT, GITHUB + "paroga/cbor-js#readme", () => strict((data) => require("cbor-js").decode(new Uint8Array(cbor(data)).buffer))] },
  "fflate": { "-strfromu8": ["output", WELL_FORMED, GITHUB + "101arrowz/fflate#readme", () => lossy((data) => require("fflate").strFromU8(new Uint8Array(data))), "node"] },
  "crypto-js": { "-utf8-stringify": ["verdict output", WELL_FORMED_STRICT, "https://cryptojs.gitbook.io/docs/#encoders", () => { const { enc } = require("crypto-js"); return strict((data) => enc.Utf8.stringify(enc.Hex.parse(data.toString("hex")))); }, "v8"] },
  "js-base64": { "-btou": ["output", WELL_FORMED, GITHUB + "dankogai/js-base64#readme", () => lossy((data) => require("js-base64").btou(data.toString("latin1")))] },
  "uri-js": { "-pctdecchars": ["output", WELL_FORMED, GITHUB + "garycourt/uri-js#readme", () => lossy((data) => require("uri-js").pctDecChars(percent(data)))] },
};

const write = (data) => {
  for (let done = 0; done < data.length; ) {
    try {
      done += writeSync(1, data, done);
    } catch (e) {
      if (e.code !== "EAGAIN") throw e;
    }
  }
};
const read = (size) => {
  const data = Buffer.alloc(size);
  for (let done = 0; done < size; ) {
    try {
      const n = readSync(0, data, done, size - done, null);
      if (n === 0) return null;
      done += n;
    } catch (e) {
      if (e.code !== "EAGAIN") throw e;
    }
  }
  return data;
};

let greeting = `utfuzz 1 frames\nenvironment=node ${process.versions.node}\n`;
let entry;
for (const [name, functions] of Object.entries(packages)) {
  for (const [suffix, [answers, contract, source, make, lineage]] of Object.entries(functions)) {
    const full = "npm-" + name.replace("@", "").replace("/", "-") + suffix;
    if (wanted && wanted !== full) continue;
    try {
      entry = await make();
      (entry.decode ?? entry)(Buffer.from("a"));
      const { version } = JSON.parse(readFileSync(`${installed}/node_modules/${name}/package.json`, "utf8"));
      greeting += `name=${full}\npackage=${name}\nversion=${version}\nanswers=${answers}\noutput=utf-16le\nsource=${source}\n`;
      greeting += (contract && `contract=${contract}\n`) + (lineage ? `lineage=${lineage}\n` : "");
    } catch (e) {
      console.error(`${full} is left out: ${e.message}`);
    }
  }
}
write(Buffer.from(greeting + "\n"));

const { decode, open } = typeof entry === "function" ? { decode: entry } : entry;
const streams = new Map();
for (let size; (size = read(4)); ) {
  const body = read(size.readUInt32LE());
  const replies = [];
  for (let next = 0; next < body.length; ) {
    const [operation, stream, length] = [body[next], body.readUInt32LE(next + 1), body.readUInt32LE(next + 5)];
    const data = Buffer.from(body.subarray(next + 9, (next += 9 + length))); // a copy, as the next batch has another buffer
    let verdict, text;
    try {
      if (operation === 1 || operation === 2) {
        if (!streams.has(stream)) streams.set(stream, open());
        [verdict, text] = operation === 1 ? streams.get(stream).push(data) : streams.get(stream).finish();
        if (operation === 1 && verdict === 1) verdict = 2;
      } else if (operation === 0) {
        [verdict, text] = decode(data);
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
  write(Buffer.concat([little(reply.length), reply]));
}
