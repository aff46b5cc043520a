"""Chromium without a window: the questions go to a page over the pipe of the DevTools protocol."""
import atexit, json, os, shutil, struct, subprocess, sys, tempfile

ENCODING, ECMA, WASM = 'https://encoding.spec.whatwg.org/', 'https://tc39.es/ecma262/#sec-decode', 'https://webassembly.github.io/spec/core/binary/values.html#names'
LOSSY, STRIPPED = 'rfc3629 maximal-subpart U+FFFD', 'rfc3629 maximal-subpart U+FFFD bom-stripped'
ENTRIES = {  # name: (answers, contract, source, how the page decodes the bytes b; null rejects, undefined accepts)
    'chromium-textdecoder': ('output stream', STRIPPED, ENCODING + '#interface-textdecoder', 'new TextDecoder().decode(b)'),
    'chromium-textdecoder-ignorebom': ('output stream', LOSSY, ENCODING + '#interface-textdecoder', 'new TextDecoder("utf-8", {ignoreBOM: true}).decode(b)'),
    'chromium-textdecoder-fatal': ('verdict output stream', 'rfc3629 maximal-subpart no-output bom-stripped', ENCODING + '#interface-textdecoder', 'fatal(b)'),
    'chromium-textdecoderstream': ('output', STRIPPED, ENCODING + '#interface-textdecoderstream', 'await piped(b)'),
    'chromium-response-text': ('output', STRIPPED, 'https://fetch.spec.whatwg.org/#dom-body-text', 'await new Response(b).text()'),
    'chromium-response-json': ('output', LOSSY, 'https://fetch.spec.whatwg.org/#dom-body-json', 'await quoted(b)'),
    'chromium-blob-text': ('output', STRIPPED, 'https://w3c.github.io/FileAPI/#text-method-algo', 'await new Blob([b]).text()'),
    'chromium-filereader-text': ('output', STRIPPED, 'https://w3c.github.io/FileAPI/#readAsDataText', 'await fileread(b)'),
    'chromium-xhr-text': ('output', STRIPPED, 'https://xhr.spec.whatwg.org/#text-response', 'await xhr(b)'),
    'chromium-html-plaintext': ('output', LOSSY, 'https://html.spec.whatwg.org/multipage/parsing.html#the-input-byte-stream', 'await html(b)'),
    'chromium-xml': ('output', '', '', 'await xml(b)'),
    'chromium-urlsearchparams': ('output', LOSSY, 'https://url.spec.whatwg.org/#urlencoded-parsing', 'new URLSearchParams("x=" + percent(b)).get("x")'),
    'chromium-decodeuricomponent': ('verdict output', 'rfc3629 no-output', ECMA, 'uri(b)'),
    'chromium-wasm-name': ('verdict', 'rfc3629 no-output', WASM, 'wasm(b)'),
}
PAGE = r'''
const percent = b => Array.from(b, x => '%' + x.toString(16).padStart(2, '0')).join('');
const fatal = b => { try { return new TextDecoder('utf-8', {fatal: true}).decode(b) } catch (e) { if (e instanceof TypeError) return null; throw e } };
const uri = b => { try { return decodeURIComponent(percent(b)) } catch (e) { if (e instanceof URIError) return null; throw e } };
const piped = async b => {
  let text = '';
  const from = new ReadableStream({start(c) { c.enqueue(b); c.close() }}).pipeThrough(new TextDecoderStream()).getReader();
  for (let part; !(part = await from.read()).done;) text += part.value;
  return text };
const quoted = async b => {
  if (b.some(x => x < 32 || x == 34 || x == 92)) throw 3;
  return new Response(new Uint8Array([34, ...b, 34])).json() };
const fileread = b => new Promise((ok, bad) => { const r = new FileReader(); r.onload = () => ok(r.result); r.onerror = () => bad(r.error); r.readAsText(new Blob([b])) });
const withUrl = async (b, type, f) => { const url = URL.createObjectURL(new Blob([b], {type})); try { return await f(url) } finally { URL.revokeObjectURL(url) } };
const request = (b, type, how) => new Promise((ok, bad) => {
  const url = URL.createObjectURL(new Blob([b], {type})), r = new XMLHttpRequest();
  r.onload = () => ok(r.response); r.onerror = () => bad('error'); r.onloadend = () => URL.revokeObjectURL(url);
  r.open('GET', url); r.responseType = how; r.send() });
const xhr = b => request(b, 'text/plain;charset=utf-8', 'text');
const html = async b => {
  if (b.some(x => x == 0 || x == 13)) throw 3;
  const head = Array.from('<!DOCTYPE html><body><plaintext>', c => c.charCodeAt(0));
  return (await request(new Uint8Array([...head, ...b]), 'text/html;charset=utf-8', 'document')).body.textContent };
const xml = async b => {
  if (b.some((x, i) => x < 32 && x != 9 && x != 10 || x == 38 || x == 60 || x == 93 || x == 0xEF && b[i + 1] == 0xBF && b[i + 2] > 0xBD)) throw 3;
  const head = Array.from('<a>', c => c.charCodeAt(0)), tail = Array.from('</a>', c => c.charCodeAt(0));
  const d = await request(new Uint8Array([...head, ...b, ...tail]), 'text/xml;charset=utf-8', 'document');
  if (!d || d.querySelector('parsererror')) throw 'not parsed';
  return d.documentElement.textContent };
const leb = n => n < 128 ? [n] : [n & 127 | 128, ...leb(n >> 7)];
const wasm = b => { const name = [...leb(b.length), ...b]; return WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 0, ...leb(name.length), ...name])) ? undefined : null };
const answer = t => t === null ? [0] : t === undefined ? [1] : [VERDICT, Array.from(t, c => c.charCodeAt(0).toString(16).padStart(4, '0') + (c.length > 1 ? c.charCodeAt(1).toString(16).padStart(4, '0') : '')).join('')];
const failed = e => e === 3 ? [3, 'the context cannot hold this byte'] : [4, String(e)];
const streams = new Map();
const step = async (operation, number, b) => {
  if (operation == 0) return answer(DECODE);
  if (operation == 3) { streams.delete(number); return [2] }
  if (!streams.has(number)) streams.set(number, new TextDecoder('utf-8', {fatal: VERDICT == 1, ignoreBOM: IGNOREBOM}));
  try { const t = operation == 1 ? streams.get(number).decode(b, {stream: true}) : streams.get(number).decode(); return [operation == 1 ? 2 : VERDICT, answer(t)[1]] }
  catch (e) { if (VERDICT == 1 && e instanceof TypeError) return [0]; throw e } };
const one = async ([operation, number, hex]) => {
  const b = new Uint8Array(hex.length / 2).map((_, i) => parseInt(hex.substr(2 * i, 2), 16));
  try { return await step(operation, number, b) } catch (e) { return failed(e) } };
globalThis.ask = async operations => {
  const answers = [], together = streams.size || operations.some(([operation]) => operation) ? 1 : 256;
  for (let i = 0; i < operations.length; i += together) answers.push(...await Promise.all(operations.slice(i, i + together).map(one)));
  return JSON.stringify(answers) };
'''

class Browser:
    def __init__(self, program):
        self.folder, self.count, self.session, self.rest = tempfile.mkdtemp(prefix='utfuzz-'), 0, None, b''
        (theirs, self.to), (self.back, theirs2) = os.pipe(), os.pipe()
        def descriptors(): a, b = os.dup(theirs), os.dup(theirs2); os.dup2(a, 3); os.dup2(b, 4)
        self.process = subprocess.Popen([program, '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
            '--remote-debugging-pipe', '--user-data-dir=' + self.folder, 'about:blank'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=descriptors, close_fds=False)
        os.close(theirs), os.close(theirs2)

    def call(self, method, **parameters):
        self.count += 1
        message = {'id': self.count, 'method': method, 'params': parameters, **({'sessionId': self.session} if self.session else {})}
        data = json.dumps(message).encode() + b'\0'
        while data: data = data[os.write(self.to, data):]
        while True:
            while b'\0' not in self.rest:
                more = os.read(self.back, 1 << 20)
                if not more: raise OSError('the browser has ended')
                self.rest += more
            one, _, self.rest = self.rest.partition(b'\0')
            got = json.loads(one)
            if got.get('id') == self.count:
                if 'error' in got: raise OSError(got['error']['message'])
                return got['result']

    def open_page(self):
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']

    def evaluate(self, expression):
        got = self.call('Runtime.evaluate', expression=expression, awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in got: raise OSError(json.dumps(got['exceptionDetails']))
        return got['result'].get('value')

    def end(self):
        self.session = None
        try: self.call('Browser.close')
        except OSError: pass
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

print('utfuzz 1 frames')
program = shutil.which('chromium') or shutil.which('chromium-headless-shell')
browser = Browser(program) if program else None
if browser:
    atexit.register(browser.end)
    print('package=chromium', 'version=' + browser.call('Browser.getVersion')['product'].split('/')[1], 'environment=headless', sep='\n')
    for name in sys.argv[1:] or ENTRIES:
        answers, contract, source, _ = ENTRIES[name]
        print('name=' + name, 'answers=' + answers, 'output=utf-16le', *['contract=' + contract, 'source=' + source] if contract else [], sep='\n')
        if 'uri' in name or 'wasm' in name: print('lineage=v8')
print(flush=True)
if browser and len(sys.argv) > 1:
    answers, _, _, decode = ENTRIES[sys.argv[1]]
    browser.open_page()
    browser.evaluate(PAGE.replace('DECODE', decode).replace('IGNOREBOM', str('ignorebom' in sys.argv[1]).lower()).replace('VERDICT', '1' if 'verdict' in answers else '2'))
while len(size := sys.stdin.buffer.read(4)) == 4:
    body, at, operations = sys.stdin.buffer.read(*struct.unpack('<I', size)), 0, []
    while at < len(body):
        operation, number, length = struct.unpack_from('<BII', body, at)
        operations.append((operation, number, body[at + 9:at + 9 + length].hex())); at += 9 + length
    reply = b''
    for verdict, *text in json.loads(browser.evaluate('ask(%s)' % json.dumps(operations))):
        out = None if not text else text[0].encode() if verdict > 2 else struct.pack('<%dH' % (len(text[0]) // 4), *(int(text[0][i:i + 4], 16) for i in range(0, len(text[0]), 4)))
        reply += struct.pack('<Biii', verdict, -1, -1, -1 if out is None else len(out)) + (out or b'')
    sys.stdout.buffer.write(struct.pack('<I', len(reply)) + reply); sys.stdout.buffer.flush()
