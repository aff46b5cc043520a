"""Command-line programs: each batch is one run of the program, with a line or a file for each input."""
import os, re, shutil, struct, subprocess, sys, tempfile

UTF8 = dict(os.environ, LC_ALL='C.UTF-8')
NOTHING = (3, -1, -1, b'an input is a line, and cannot hold this byte')

def run(command, data=b''):
    """What the program printed; its messages if it printed nothing and failed."""
    p = subprocess.run(command, input=data, capture_output=True, env=UTF8)
    # These name what is ill-formed, so silence must not come from a failure; 1 is their status for ill-formed input.
    if command[0] in ('grep', 'isutf8') and p.returncode not in (0, 1): raise OSError('%s: exit status %d; %s' % (command[0], p.returncode, p.stderr.decode('utf-8', 'replace').strip()))
    return p.stdout, p.stderr.decode('utf-8', 'replace').strip() or 'exit status %d' % p.returncode

def lines(inputs, command, bad, read, around=b'%b\n'):
    """One line for each input that can be one, behind an empty line, which keeps the start of the file out of it."""
    fit = [i for i, b in enumerate(inputs) if not re.search(bad, b)]
    out, why = run(command, around % b'' + b''.join(around % inputs[i] for i in fit))
    answers, got = [NOTHING] * len(inputs), read(out, len(fit))
    for i, a in zip(fit, got if got is not None else [(4, -1, -1, ('not a line for each input; ' + why).encode())] * len(fit)):
        answers[i] = a
    return answers

def texts(out, n):
    """A line of output for each line of input, and the one in front."""
    got = out.split(b'\n')
    return [(2, -1, -1, t) for t in got[1:-1]] if len(got) == n + 2 else None

def numbers(out, n):
    """The numbers of the lines that are ill-formed."""
    bad = {int(line.split(b':', 1)[0]) - 2 for line in out.split(b'\n') if line[:1].isdigit()}
    return [(0 if i in bad else 1, -1, -1, None) for i in range(n)]

def code_points(out, n):
    got = out.split(b'\n')
    return [(2, -1, -1, b''.join(struct.pack('<I', int(c)) for c in re.findall(rb'\d+', t))) for t in got[1:-1]] if len(got) == n + 2 else None

def files(inputs, command):
    """A file for each input; the program names those that are ill-formed, with the offset."""
    with tempfile.TemporaryDirectory() as d:
        names = [os.path.join(d, str(i)) for i in range(len(inputs))]
        for name, b in zip(names, inputs):
            with open(name, 'wb') as f: f.write(b)
        answers = [(1, -1, -1, None)] * len(inputs)
        for start in range(0, len(names), 1000):
            out, why = run(command + names[start:start + 1000])
            for line in out.decode('utf-8', 'replace').split('\n'):
                m = re.match(re.escape(d) + r'/(\d+): line \d+, char \d+, byte (\d+):', line)
                if m: answers[int(m[1])] = (0, int(m[2]), -1, None)
        return answers

def uconv(*options): return lambda b: lines(b, ['uconv', '-f', 'UTF-8', '-t', 'UTF-8', *options], rb'[\n\r]', texts)
ICU = 'https://icu.unicode.org/download/60'
ENTRIES = [  # name, program, how it says its version, what it answers, further keys, the question
    ('grep-axv', 'grep', 'grep', 'verdict', {}, lambda b: lines(b, ['grep', '-n', '-axv', '.*'], rb'\n', numbers)),
    ('isutf8-files', 'isutf8', 'moreutils', 'verdict offset', {'contract': 'rfc3629 no-output', 'source': 'https://manpages.debian.org/bookworm/moreutils/isutf8.1.en.html'}, lambda b: files(b, ['isutf8'])),
    ('uconv-substitute', 'uconv', 'uconv', 'output', {'lineage': 'icu', 'contract': 'rfc3629 maximal-subpart U+FFFD', 'source': ICU}, uconv('--from-callback', 'substitute')),
    ('uconv-skip', 'uconv', 'uconv', 'output', {'lineage': 'icu', 'contract': 'rfc3629 maximal-subpart drop', 'source': ICU}, uconv('--from-callback', 'skip')),
    ('uconv-escape-c', 'uconv', 'uconv', 'output', {'lineage': 'icu'}, uconv('--from-callback', 'escape-c')),
    ('iconv-c', 'iconv', 'iconv', 'output', {'lineage': 'glibc', 'contract': 'rfc3629 drop', 'source': 'https://man7.org/linux/man-pages/man1/iconv.1.html'}, lambda b: lines(b, ['iconv', '-c', '-f', 'UTF-8', '-t', 'UTF-8'], rb'\n', texts)),
    ('jq-raw', 'jq', 'jq', 'output', {}, lambda b: lines(b, ['jq', '-R', '-r', '.'], rb'\n', texts)),
    ('jq-json', 'jq', 'jq', 'output', {}, lambda b: lines(b, ['jq', '-r', '.'], rb'[\0-\x1f"\\]', texts, b'"%b"\n')),
    ('jq-explode', 'jq', 'jq', 'output', {'output': 'utf-32le'}, lambda b: lines(b, ['jq', '-R', '-c', 'explode'], rb'\n', code_points)),
]

def version(program):
    if program == 'moreutils':  # isutf8 does not say its version: its package does
        return run(['dpkg-query', '-W', '-f', '${Version}', program])[0].decode() or 'unknown'
    return re.search(r'(?:ICU |\D)(\d[\w.]+)(?!.*ICU)', run([program, '--version'])[0].decode())[1]

there = [e for e in ENTRIES if shutil.which(e[1]) and (len(sys.argv) < 2 or e[0] == sys.argv[1])]
print('utfuzz 1 frames')
for name, program, package, answers, more, ask in there:
    keys = {'name': name, 'package': package, 'version': version(package), 'answers': answers, 'environment': 'LC_ALL=C.UTF-8'}
    print(*('%s=%s' % item for item in {**keys, **more}.items()), sep='\n')
print(flush=True)
while len(size := sys.stdin.buffer.read(4)) == 4:
    body, at, inputs = sys.stdin.buffer.read(*struct.unpack('<I', size)), 0, []
    while at < len(body):
        length, = struct.unpack_from('<I', body, at + 5)
        inputs.append(body[at + 9:at + 9 + length]); at += 9 + length
    try: answers = there[0][5](inputs)
    except Exception as e: answers = [(4, -1, -1, repr(e).encode())] * len(inputs)
    reply = b''.join(struct.pack('<Biii', v, o, l, -1 if t is None else len(t)) + (t or b'') for v, o, l, t in answers)
    sys.stdout.buffer.write(struct.pack('<I', len(reply)) + reply); sys.stdout.buffer.flush()
