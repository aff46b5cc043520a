// An adapter for PostgreSQL, compiled to WebAssembly. The first argument is the directory in which it is installed.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { PGlite } = createRequire(process.argv[2] + "/adapter.js")("@electric-sql/pglite");
const db = await PGlite.create();
// PostgreSQL's text cannot hold U+0000, by its documentation.
await db.exec(`create function ask(hex text) returns text language plpgsql as $$
  begin
    return '1 -1 -1 ' || coalesce(nullif(encode(convert_to(convert_from(decode(hex, 'hex'), 'UTF8'), 'UTF8'), 'hex'), ''), '.');
  exception when character_not_in_repertoire then
    return '0 -1 -1 -';
  end $$`);
const { version } = (await db.query("select current_setting('server_version') as version")).rows[0];
console.log(`utfuzz 1 lines
name=pglite-convert-from
package=postgresql
version=${version}
answers=verdict output
contract=rfc3629 no-output incomplete-is-error
source=https://www.postgresql.org/docs/current/functions-binarystring.html#FUNCTION-CONVERT-FROM
environment=PGlite, node ${process.versions.node}
`);

let batch = [];
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== "") {
    batch.push(line === "." ? "" : line);
    continue;
  }
  const query = "select ask(hex) as answer from unnest(string_to_array($1, ',')) with ordinality as t(hex, i) order by i";
  // An array of one empty text would be an empty array.
  const { rows } = await db.query(query, [batch.join(",") + ","]);
  const nul = (hex) => hex.length > 0 && hex.match(/../g).includes("00");
  const reason = Buffer.from("text cannot hold U+0000").toString("hex");
  console.log(batch.map((hex, i) => (nul(hex) ? `3 -1 -1 ${reason}` : rows[i].answer)).join("\n"));
  batch = [];
}
process.exit(0);
