# Ruby's decoders: the strings of the core (valid_encoding?, scrub, chars), its transcoder, files, and JSON.
# Encoding::Converter is the transcoder as a stream.
require 'json'
require 'stringio'
require 'tempfile'
SITE = 'source=https://docs.ruby-lang.org/en/3.1/'
STRICT = "contract=rfc3629 no-output incomplete-is-error\n#{SITE}"
ENTRIES = {}
def entry(name, lineage, answers, more = '', &run) = ENTRIES["ruby-#{name}"] = ["name=ruby-#{name}\nlineage=#{lineage}\nanswers=#{answers}\n#{more}".chomp + "\n", run]
def verdict(good) = [good ? 1 : 0, -1, -1, nil]
def output(text) = [2, -1, -1, text]
def text(bytes) = String.new(bytes, encoding: 'UTF-8')
def held(bytes, pattern) = bytes.match?(pattern) ? [3, -1, -1, 'the context cannot hold this'] : yield
STREAMS = {}
Rejected = [EncodingError, JSON::JSONError]      # what Ruby raises for ill-formed text

entry('valid-encoding', 'ruby-enc-utf8', 'verdict', "#{STRICT}String.html#method-i-valid_encoding-3F") { |b| verdict(text(b).valid_encoding?) }
entry('scrub', 'ruby-enc-utf8', 'output') { |b| output(text(b).scrub) }
entry('scrub-block', 'ruby-enc-utf8', 'verdict length output') do |b|
  first = nil
  all = text(b).scrub { |bad| first ||= bad.bytesize; "\uFFFD" }
  first ? [0, -1, first, all] : [1, -1, -1, all]
end
entry('chars', 'ruby-enc-utf8', 'output') { |b| output(text(b).each_char.map { |c| c.valid_encoding? ? c : "\uFFFD" }.join) }
entry('codepoints', 'ruby-enc-utf8', 'verdict output') { |b| [1, -1, -1, text(b).codepoints.pack('U*')] }
entry('unpack-u', 'ruby-pack', 'verdict output') { |b| [1, -1, -1, b.unpack('U*').pack('U*')] }
entry('unicode-normalize', 'ruby-enc-utf8', 'verdict', '') { |b| text(b).unicode_normalize(:nfc); verdict(true) }
entry('regexp', 'ruby-enc-utf8', 'verdict', '') { |b| text(b).match?(/\A.*\z/m); verdict(true) }
entry('encode', 'ruby-transcode', 'verdict output', "output=utf-16le\n#{STRICT}String.html#method-i-encode") { |b| [1, -1, -1, text(b).encode('UTF-16LE')] }
entry('encode-replace', 'ruby-transcode', 'output', 'output=utf-16le') { |b| output(text(b).encode('UTF-16LE', invalid: :replace, undef: :replace)) }
entry('encode-utf32-replace', 'ruby-transcode', 'output', 'output=utf-32le') { |b| output(text(b).encode('UTF-32LE', invalid: :replace, undef: :replace)) }
entry('encode-utf8-mac', 'ruby-transcode-utf8-mac', 'verdict') { |b| text(b).force_encoding('UTF-8-MAC').encode('UTF-8'); verdict(true) }
entry('encoding-converter', 'ruby-transcode', 'verdict offset length', "contract=rfc3629 no-output\n#{SITE}Encoding/Converter.html") do |b|
  converter = Encoding::Converter.new('UTF-8', 'UTF-16LE'); rest = b.dup; to = +''
  result = converter.primitive_convert(rest, to)
  next verdict(true) if result == :finished
  _, _, _, bad, again = converter.primitive_errinfo       # the bytes that are wrong, and those that are to be read again
  [0, b.bytesize - rest.bytesize - bad.bytesize - again.bytesize, result == :incomplete_input ? 0 : -1, nil]
end
entry('encoding-converter-replace', 'ruby-transcode', 'output stream', 'output=utf-16le') do |b, operation, stream|
  make = -> { Encoding::Converter.new('UTF-8', 'UTF-16LE', invalid: :replace, undef: :replace) }
  converter = operation == 0 ? make[] : STREAMS[stream] ||= make[]
  to = +''
  converter.primitive_convert(b.dup, to, nil, nil, partial_input: operation == 1)
  STREAMS.delete(stream) if operation == 2
  output(to)
end
entry('io-transcode', 'ruby-transcode', 'verdict output', 'output=utf-16le') do |b|
  $file ||= Tempfile.new.tap(&:binmode); $file.rewind; $file.truncate(0); $file.write(b); $file.flush
  [1, -1, -1, File.read($file.path, mode: 'rb:UTF-8:UTF-16LE')]
end
entry('io-bom', 'ruby-enc-utf8', 'verdict output') do |b|
  $file ||= Tempfile.new.tap(&:binmode); $file.rewind; $file.truncate(0); $file.write(b); $file.flush
  all = File.read($file.path, mode: 'rb:BOM|UTF-8')
  all.valid_encoding? ? [1, -1, -1, all] : [0, -1, -1, nil]
end
entry('stringio-each-char', 'ruby-enc-utf8', 'output') { |b| output(StringIO.new(text(b)).each_char.map { |c| c.valid_encoding? ? c : "\uFFFD" }.join) }
entry('json-parse', 'ruby-json', 'verdict output', "version=#{RUBY_VERSION}, json #{JSON::VERSION}") { |b| held(b, /["\\\x00-\x1F]/n) { [1, -1, -1, JSON.parse("\"#{text(b)}\"")] } }
entry('json-generate', 'ruby-json', 'verdict', "version=#{RUBY_VERSION}, json #{JSON::VERSION}") { |b| JSON.generate(text(b)); verdict(true) }
entry('to-sym', 'ruby-enc-utf8', 'verdict') { |b| text(b).to_sym; verdict(true) }

[$stdin, $stdout].each(&:binmode)
serve = ARGV.empty? ? ENTRIES.keys : ARGV.take(1)
$stdout << "utfuzz 1 frames\npackage=ruby\nversion=#{RUBY_VERSION}p#{RUBY_PATCHLEVEL}\n" << serve.map { |name| ENTRIES.fetch(name)[0] }.join << "\n"
$stdout.flush
run = ENTRIES[serve[0]][1]
while (size = $stdin.read(4))
  body, at, reply = $stdin.read(size.unpack1('V')) || ''.b, 0, ''.b
  while at < body.bytesize
    operation, stream, size = body.unpack("@#{at}CVV")
    bytes = body.byteslice(at + 9, size); at += 9 + size
    all, offset, length, text =
      begin
        if operation == 3 then STREAMS.delete(stream); [2, -1, -1, nil] else run.call(bytes, operation, stream) end
      rescue *Rejected
        verdict(false)
      rescue ArgumentError => error            # "invalid byte sequence in UTF-8", "malformed UTF-8 character"
        error.message.match?(/invalid byte sequence|UTF-8|invalid symbol/) ? verdict(false) : [4, -1, -1, error.message]
      rescue StandardError, SystemStackError => error
        [4, -1, -1, "#{error.class}: #{error.message}"]
      end
    reply << [all, offset, length, text ? text.bytesize : -1].pack('Cl<l<l<') << (text || '').b
  end
  $stdout << [reply.bytesize].pack('V') << reply
  $stdout.flush
end
