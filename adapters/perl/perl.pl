# Perl's UTF-8 decoders: Encode (strict "UTF-8" and lax "utf8"), utf8::decode, the :encoding layer, JSON and
# Unicode::UTF8. Output is written in Perl's own extended UTF-8, so that surrogates stay visible.
use strict; use warnings; no warnings 'utf8';
use Encode ();
my $core = "package=perl\nversion=" . sprintf('%vd', $^V) . ", Encode $Encode::VERSION\nlineage=perl-";
my $encode = 'source=https://perldoc.perl.org/Encode#UTF-8-vs.-utf8-vs.-UTF8';
my $strict = "contract=rfc3629-without-noncharacters no-output incomplete-is-error\n$encode";
my (@names, %head, %run, %streams);
sub entry { my ($name, $head, $run) = @_; push @names, $name; $head{$name} = "name=$name\n$head\n"; $run{$name} = $run }
sub answer { pack 'C l< l< l</a*', @_ > 3 ? @_ : (@_, '') }
sub none { pack 'C l< l< l<', @_, -1 }
sub text { my $text = shift; utf8::encode($text); $text }
sub croaking { my ($bytes, $run) = @_;      # for decoders that die: their message is not kept, rejecting is the answer
    my $text = eval { $run->($bytes) }; defined $text ? answer(1, -1, -1, text($text)) : none(0, -1, -1) }
for my $codec ('UTF-8', 'utf8') {
    my ($which, $promise) = $codec eq 'UTF-8' ? ('strict', "\n$strict") : ('lax', '');
    my $object = Encode::find_encoding($codec);
    entry("perl-encode-$which", "${core}encode-$which\nanswers=verdict output$promise", sub {
        croaking($_[0], sub { $object->decode($_[0], Encode::FB_CROAK) }) });
    entry("perl-encode-$which-quiet", "${core}encode-$which\nanswers=verdict offset output$promise", sub {
        my $rest = $_[0]; my $text = $object->decode($rest, Encode::FB_QUIET);    # what is left begins with the error
        length $rest ? none(0, length($_[0]) - length($rest), -1) : answer(1, -1, -1, text($text)) });
    entry("perl-encode-$which-replace", "${core}encode-$which\nanswers=output stream", sub {
        my ($bytes, $operation, $stream) = @_;
        return answer(2, -1, -1, text($object->decode($bytes, Encode::FB_DEFAULT))) if $operation == 0;
        $bytes = ($streams{$stream} // '') . $bytes;       # STOP_AT_PARTIAL leaves an unfinished character in $bytes
        my $text = $object->decode($bytes, $operation == 1 ? Encode::STOP_AT_PARTIAL : Encode::FB_DEFAULT);
        $streams{$stream} = $operation == 1 ? $bytes : '';
        answer(2, -1, -1, text($text)) });
    entry("perl-layer-$which", "${core}encode-$which\nanswers=output", sub {
        open my $file, "<:encoding($codec)", \$_[0] or die $!; local $/; answer(2, -1, -1, text(<$file> // '')) });
}
for my $codec ('UTF-16', 'UTF-16LE', 'UTF-16BE', 'UTF-32', 'UTF-32LE', 'UTF-32BE') {
    my $object = Encode::find_encoding($codec); my $name = lc $codec;
    my $more = "encoding=$name\nsource=https://perldoc.perl.org/Encode::Unicode";
    entry("perl-encode-$name-croak", "${core}encode-unicode\nanswers=verdict output\n$more", sub {
        croaking($_[0], sub { $object->decode($_[0], Encode::FB_CROAK) }) });
    entry("perl-encode-$name-replace", "${core}encode-unicode\nanswers=output\n$more", sub {
        answer(2, -1, -1, text($object->decode($_[0], Encode::FB_DEFAULT))) });
}
my $utf8 = "${core}extended\nanswers=verdict output\nsource=https://perldoc.perl.org/utf8#Utility-functions";
entry('perl-utf8-decode', $utf8, sub {
    my $text = $_[0]; utf8::decode($text) ? answer(1, -1, -1, text($text)) : none(0, -1, -1) });
entry('perl-unpack-u', "${core}extended\nanswers=output", sub { answer(2, -1, -1, text(join '', map chr, unpack 'C0U*', $_[0])) });
# JSON: the input stands between quotation marks.
for my $module ('JSON::PP', 'JSON::XS', 'Cpanel::JSON::XS') {
    next unless eval "require $module";
    my $name = lc $module =~ s/::/-/gr; my $json = $module->new->utf8->allow_nonref;
    my $version = $module->VERSION; my $at = $module =~ /PP/ ? 'perldoc.perl.org' : 'metacpan.org/pod';
    entry("perl-$name", "package=$name\nversion=$version\nlineage=$name\nanswers=verdict output\nsource=https://$at/$module", sub {
        return answer(3, -1, -1, 'a JSON string cannot hold this') if $_[0] =~ /["\\\x00-\x1F]/;
        croaking(qq("$_[0]"), sub { $json->decode($_[0]) }) });
}
if (eval { require Unicode::UTF8 }) {
    my $head = "package=unicode-utf8\nversion=$Unicode::UTF8::VERSION\nlineage=unicode-utf8";
    my $source = 'source=https://metacpan.org/pod/Unicode::UTF8';
    my $grammar = 'rfc3629-without-noncharacters';
    entry('perl-unicode-utf8-valid', "$head\nanswers=verdict\ncontract=rfc3629 no-output incomplete-is-error\n$source",
        sub { none(Unicode::UTF8::valid_utf8($_[0]) ? 1 : 0, -1, -1) });
    entry('perl-unicode-utf8-replace', "$head\nanswers=output\ncontract=$grammar maximal-subpart U+FFFD incomplete-is-error\n$source",
        sub { answer(2, -1, -1, text(Unicode::UTF8::decode_utf8($_[0]))) });
    entry('perl-unicode-utf8-fallback', "$head\nanswers=verdict offset length output\ncontract=$grammar maximal-subpart U+FFFD incomplete-is-error\n$source", sub {
        my @first; my $text = Unicode::UTF8::decode_utf8($_[0], sub { @first = ($_[2], length $_[0]) unless @first; "\x{FFFD}" });
        answer(@first ? (0, @first) : (1, -1, -1), text($text)) });
}
my @serve = @ARGV ? $ARGV[0] : @names;
die "no such entry: @serve\n" if grep !$head{$_}, @serve;
binmode STDIN; binmode STDOUT; $| = 1;
print "utfuzz 1 frames\n", @head{@serve}, "\n";
my $run = $run{$serve[0]};
while (read(STDIN, my $size, 4) == 4) {
    read STDIN, my $body, unpack 'V', $size;
    my ($at, $reply) = (0, '');
    while ($at < length $body) {
        my ($operation, $stream, $bytes) = unpack "\@$at C V V/a*", $body; $at += 9 + length $bytes;
        if ($operation == 3) { delete $streams{$stream}; $reply .= none(2, -1, -1); next }
        $reply .= eval { $run->($bytes, $operation, $stream) } // answer(4, -1, -1, "$@");
    }
    print pack('V', length $reply), $reply;
}
