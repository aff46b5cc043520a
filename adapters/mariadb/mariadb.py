"""MariaDB without a server: the program reads statements in bootstrap mode, and exchanges files with this adapter."""
import atexit, os, pwd, shutil, struct, subprocess, sys, tempfile, time

ENTRIES = {  # an expression of the bytes b; utf32 is big endian, and is turned around
    'mariadb-utf8mb4-convert': 'CONVERT(b USING utf8mb4)',
    'mariadb-utf8mb3-convert': 'CONVERT(b USING utf8mb3)',
    'mariadb-utf8mb4-to-utf32': 'CONVERT(CONVERT(b USING utf8mb4) USING utf32)',
    'mariadb-utf8mb4-column': 't4',
    'mariadb-utf8mb3-column': 't3',
}

class Database:
    def __init__(self):
        self.folder, self.count = tempfile.mkdtemp(prefix='utfuzz-'), 0
        data = os.path.join(self.folder, 'data')
        os.mkdir(data)
        self.process = subprocess.Popen(['mariadbd', '--no-defaults', '--bootstrap', '--user=' + pwd.getpwuid(os.getuid()).pw_name,
            '--datadir=' + data, '--log-error=' + self.folder + '/log', '--skip-innodb', '--default-storage-engine=MyISAM', '--secure-file-priv='],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.say("SET sql_mode=''", 'CREATE DATABASE u', 'USE u', 'CREATE TABLE i (n INT, h LONGTEXT CHARACTER SET latin1)',
            'CREATE TABLE c (n INT, b LONGBLOB, t4 LONGTEXT CHARACTER SET utf8mb4, t3 LONGTEXT CHARACTER SET utf8mb3)')

    def say(self, *statements):
        self.process.stdin.write(''.join(s + ';\n' for s in statements).encode())
        self.process.stdin.flush()

    def file(self, name): return os.path.join(self.folder, name)

    def select(self, query):
        """The rows of a query, from a file that is there when a second one is."""
        self.count += 1
        out, done = self.file('out%d' % self.count), self.file('done%d' % self.count)
        self.say("%s INTO OUTFILE '%s'" % (query, out), "SELECT 1 INTO OUTFILE '%s'" % done)
        while not os.path.exists(done):
            if self.process.poll() is not None: raise OSError('mariadbd has ended')
            time.sleep(0.001)
        with open(out) as f: rows = f.read().split('\n')[:-1]
        os.remove(out), os.remove(done)
        return rows

    def ask(self, inputs, expression):
        with open(self.file('in'), 'w') as f:
            f.writelines('%d\t%s\n' % (i, b.hex()) for i, b in enumerate(inputs))
        self.say('TRUNCATE i', 'TRUNCATE c', "LOAD DATA INFILE '%s' INTO TABLE i" % self.file('in'),
            'INSERT IGNORE INTO c SELECT n, UNHEX(h), UNHEX(h), UNHEX(h) FROM i')
        rows = self.select('SELECT HEX(%s) FROM c ORDER BY n' % expression)
        return [(0, None) if r == '\\N' else (2, bytes.fromhex(r)) for r in rows]

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder)

print('utfuzz 1 frames')
database = shutil.which('mariadbd') and Database()
if database:
    atexit.register(database.end)
    print('package=mariadb', 'version=' + database.select('SELECT VERSION()')[0], "environment=sql_mode=''", sep='\n')
    for name in sys.argv[1:] or ENTRIES:
        print('name=' + name, 'answers=output', sep='\n')
        if name.endswith('utf32'): print('output=utf-32le')
print(flush=True)
expression = ENTRIES[sys.argv[1]] if len(sys.argv) > 1 else 'b'
while len(size := sys.stdin.buffer.read(4)) == 4:
    body, at, inputs = sys.stdin.buffer.read(*struct.unpack('<I', size)), 0, []
    while at < len(body):
        length, = struct.unpack_from('<I', body, at + 5)
        inputs.append(body[at + 9:at + 9 + length]); at += 9 + length
    reply = bytearray()
    for verdict, text in database.ask(inputs, expression):
        if text and 'utf32' in expression: text = b''.join(text[i:i + 4][::-1] for i in range(0, len(text), 4))
        reply += struct.pack('<Biii', verdict, -1, -1, -1 if text is None else len(text)) + (text or b'')
    sys.stdout.buffer.write(struct.pack('<I', len(reply)) + reply); sys.stdout.buffer.flush()
