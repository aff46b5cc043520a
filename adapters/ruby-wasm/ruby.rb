# An adapter for the decoders of Ruby. Each is given a binary string and returns verdict, offset, length and output.
require "json"

# A string that says it is UTF-8, whatever its bytes are.
def text(bytes) = bytes.dup.force_encoding("UTF-8")
rescue_with = ->(errors, decode) do
  lambda do |bytes|
    [1, -1, -1, decode[bytes]]
  rescue *errors
    [0, -1, -1, nil]
  end
end
lossy = ->(decode) { ->(bytes) { [2, -1, -1, decode[bytes]] } }

# Encoding::Converter states the bytes that are wrong, those that it will read again, and what follows.
converter = lambda do |bytes|
  rest, out = bytes.dup, +""
  machine = Encoding::Converter.new("UTF-8", "UTF-16LE")
  next [1, -1, -1, out] if machine.primitive_convert(rest, out) == :finished
  _, _, _, bad, again = machine.primitive_errinfo
  [0, bytes.bytesize - rest.bytesize - again.bytesize - bad.bytesize, bad.bytesize, nil]
end

class Stream
  def initialize = @machine = Encoding::Converter.new("UTF-8", "UTF-16LE", invalid: :replace)
  def push(bytes) = [2, -1, -1, @machine.convert(bytes)]
  def finish = [2, -1, -1, @machine.finish].tap { initialize }
end

DOC = "https://docs.ruby-lang.org/en/3.4/"
STRICT = "rfc3629 no-output incomplete-is-error"
# name => answers, output, contract, source, decode, streams
entries = {
  "valid-encoding" => ["verdict", "utf-8", STRICT, "String.html#method-i-valid_encoding-3F", ->(b) { [text(b).valid_encoding? ? 1 : 0, -1, -1, nil] }],
  "scrub" => ["output", "utf-8", "rfc3629 U+FFFD incomplete-is-error", "String.html#method-i-scrub", lossy[->(b) { text(b).scrub }]],
  "encode" => ["verdict output", "utf-16le", STRICT, "String.html#method-i-encode", rescue_with[[EncodingError], ->(b) { text(b).encode("UTF-16LE") }]],
  "encode-replace" => ["output stream", "utf-16le", "rfc3629 U+FFFD incomplete-is-error", "encodings_rdoc.html#label-Encoding+Options", lossy[->(b) { text(b).encode("UTF-16LE", invalid: :replace) }], Stream],
  "converter" => ["verdict offset length output", "utf-16le", STRICT, "Encoding/Converter.html#method-i-primitive_errinfo", converter],
  "codepoints" => ["verdict output", "utf-32le", "", "String.html#method-i-codepoints", rescue_with[[ArgumentError], ->(b) { text(b).codepoints.pack("L<*") }]],
  "chars-scrub" => ["output", "utf-8", "", "String.html#method-i-chars", lossy[->(b) { text(b).chars.map(&:scrub).join }]],
  "unpack" => ["verdict output", "utf-32le", "", "packed_data_rdoc.html", rescue_with[[ArgumentError], ->(b) { b.unpack("U*").pack("L<*") }]],
  "json-parse" => ["verdict output", "utf-8", "", "JSON.html#method-i-parse", lambda do |b|
    next [3, -1, -1, "the literal cannot hold this byte"] if b.match?(/[\x00-\x1f"\\]/n)
    rescue_with[[JSON::ParserError, EncodingError], ->(bytes) { JSON.parse(text("\"#{bytes}\"".b)) }][b]
  end],
}
entries.transform_keys! { |name| "ruby#{RUBY_VERSION[/^\d+\.\d+/]}-#{name}" }
entries.select! { |name, _| name == ARGV[0] } if ARGV[0]

$stdin.binmode
$stdout.binmode
$stdout.sync = false
puts "utfuzz 1 frames", "package=ruby", "version=#{RUBY_VERSION}", "environment=#{RUBY_PLATFORM}, json #{JSON::VERSION}"
entries.each do |name, (answers, output, contract, source)|
  puts "name=#{name}", "answers=#{answers}", "output=#{output}", "source=#{DOC}#{source}"
  puts "contract=#{contract}" unless contract.empty?
end
puts
$stdout.flush

*, decode, stream = entries.values.first.then { |e| e.size == 5 ? [*e, nil] : e }
streams = Hash.new { |all, number| all[number] = stream.new }
while (size = $stdin.read(4))
  body, at, reply = $stdin.read(size.unpack1("V")) || "".b, 0, "".b
  while at < body.bytesize
    operation, number, length = body.byteslice(at, 9).unpack("CVV")
    bytes = body.byteslice(at + 9, length)
    at += 9 + length
    answer =
      begin
        case operation
        when 0 then decode[bytes]
        when 1 then streams[number].push(bytes)
        when 2 then streams[number].finish
        else streams.delete(number) && nil || [2, -1, -1, nil]
        end
      rescue => e
        [4, -1, -1, e.full_message(highlight: false)]
      end
    verdict, offset, extent, out = answer
    reply << [verdict, offset, extent, out ? out.bytesize : -1].pack("Cl<l<l<") << (out || "").b
  end
  $stdout.write([reply.bytesize].pack("V"), reply)
  $stdout.flush
end
