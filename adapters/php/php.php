<?php
// PHP's functions that read UTF-8. They stand on several implementations: mbstring, html and json are PHP's own,
// the others are ICU, PCRE2, libxml2 and iconv.
error_reporting(0);
ini_set('mbstring.substitute_character', (string) 0xFFFD);
libxml_use_internal_errors(true);
const MANUAL = 'source=https://www.php.net/manual/en/';
const VALIDATOR = "contract=rfc3629 no-output incomplete-is-error\n";
$icu = defined('INTL_ICU_VERSION') ? ', ICU ' . INTL_ICU_VERSION : '';
$libxml = defined('LIBXML_DOTTED_VERSION') ? ', libxml2 ' . LIBXML_DOTTED_VERSION : '';
$iconv = defined('ICONV_VERSION') ? ', ' . ICONV_IMPL . ' ' . ICONV_VERSION : '';
$entries = [];
function entry($name, $lineage, $answers, $more, $run, $needs = 'strlen', $library = '') {
    global $entries;
    if (!is_callable($needs) && !class_exists($needs)) return;
    $head = "name=php-$name\nversion=" . PHP_VERSION . "$library\nlineage=$lineage\nanswers=$answers\n$more";
    $entries["php-$name"] = [rtrim($head, "\n") . "\n", $run];
}
function verdict($good) { return [$good ? 1 : 0, null]; }
function output($text) { return [2, $text]; }                          // nothing is said about the input
function strict($text, $bad = false) { return $text === $bad ? [0, null] : [1, $text]; }
function unless($pattern, $run) {                                      // for a context that cannot hold some inputs
    return fn($s) => preg_match($pattern, $s) ? [3, 'the context cannot hold this'] : $run($s);
}
const STRING = '/["\\\\\x00-\x1F]/', TEXT = '/[\x00-\x08\x0B-\x1F&<>]|\xEF\xBF[\xBE\xBF]/';

entry('mb-check-encoding', 'php-mbstring', 'verdict', VALIDATOR . MANUAL . 'function.mb-check-encoding.php',
    fn($s) => verdict(mb_check_encoding($s, 'UTF-8')), 'mb_check_encoding');
entry('mb-detect-encoding-strict', 'php-mbstring', 'verdict', VALIDATOR . MANUAL . 'function.mb-detect-encoding.php',
    fn($s) => verdict(mb_detect_encoding($s, ['UTF-8'], true) !== false), 'mb_detect_encoding');
entry('mb-scrub', 'php-mbstring', 'output', '', fn($s) => output(mb_scrub($s, 'UTF-8')), 'mb_scrub');
entry('mb-convert-encoding', 'php-mbstring', 'output', "output=utf-32le\n",
    fn($s) => output(mb_convert_encoding($s, 'UTF-32LE', 'UTF-8')), 'mb_convert_encoding');
entry('mb-str-split', 'php-mbstring', 'output', '',                    // each character is scrubbed by itself
    fn($s) => output(implode('', array_map(fn($c) => mb_scrub($c, 'UTF-8'), mb_str_split($s, 1, 'UTF-8')))), 'mb_str_split');
entry('preg-u', 'pcre2', 'verdict', VALIDATOR . MANUAL . 'reference.pcre.pattern.modifiers.php',
    fn($s) => verdict(preg_match('//u', $s) === 1), 'preg_match', ', PCRE2 ' . PCRE_VERSION);
entry('preg-replace-callback-u', 'pcre2', 'verdict output', VALIDATOR . MANUAL . 'reference.pcre.pattern.modifiers.php',
    fn($s) => strict(preg_replace('/(.)/su', '$1', $s), null), 'preg_match', ', PCRE2 ' . PCRE_VERSION);
entry('normalizer', 'icu', 'verdict', '', fn($s) => verdict(normalizer_normalize($s) !== false), 'normalizer_normalize', $icu);
entry('grapheme-strlen', 'icu', 'verdict', '', fn($s) => verdict(is_int(grapheme_strlen($s))), 'grapheme_strlen', $icu);
entry('transliterator', 'icu', 'verdict output', '', function ($s) {
    static $null; $null ??= Transliterator::create('Null'); return strict($null->transliterate($s));
}, 'Transliterator', $icu);
entry('uconverter', 'icu', 'output', "output=utf-16le\n",
    fn($s) => output(UConverter::transcode($s, 'UTF-16LE', 'UTF-8')), 'UConverter', $icu);
entry('iconv', 'glibc', 'verdict output', "output=utf-32le\n" . VALIDATOR . MANUAL . 'function.iconv.php',
    fn($s) => strict(iconv('UTF-8', 'UTF-32LE', $s)), 'iconv', $iconv);
entry('iconv-strlen', 'glibc', 'verdict', VALIDATOR . MANUAL . 'function.iconv-strlen.php',
    fn($s) => verdict(iconv_strlen($s, 'UTF-8') !== false), 'iconv_strlen', $iconv);
$plain = '/[&<>]/';
entry('htmlspecialchars', 'php-html', 'verdict output', VALIDATOR . MANUAL . 'function.htmlspecialchars.php',
    unless($plain, fn($s) => ($t = htmlspecialchars($s, ENT_NOQUOTES, 'UTF-8')) === '' && $s !== '' ? [0, null] : [1, $t]));
entry('htmlspecialchars-substitute', 'php-html', 'output', '',
    unless($plain, fn($s) => output(htmlspecialchars($s, ENT_NOQUOTES | ENT_SUBSTITUTE, 'UTF-8'))));
entry('htmlspecialchars-ignore', 'php-html', 'output', '',
    unless($plain, fn($s) => output(htmlspecialchars($s, ENT_NOQUOTES | ENT_IGNORE, 'UTF-8'))));
// json_encode answers in ASCII with \u escapes, which json_decode turns back into text.
entry('json-encode', 'php-json-encoder', 'verdict output', VALIDATOR . MANUAL . 'function.json-encode.php',
    fn($s) => ($t = json_encode($s)) === false ? [0, null] : [1, json_decode($t)]);
entry('json-encode-substitute', 'php-json-encoder', 'output', '',
    fn($s) => output(json_decode(json_encode($s, JSON_INVALID_UTF8_SUBSTITUTE))));
entry('json-encode-ignore', 'php-json-encoder', 'output', '',
    fn($s) => output(json_decode(json_encode($s, JSON_INVALID_UTF8_IGNORE))));
entry('json-decode', 'php-json-decoder', 'verdict output', VALIDATOR . MANUAL . 'function.json-decode.php',
    unless(STRING, fn($s) => strict(json_decode("\"$s\""), null)));
entry('json-decode-substitute', 'php-json-decoder', 'output', '',
    unless(STRING, fn($s) => output(json_decode("\"$s\"", false, 2, JSON_INVALID_UTF8_SUBSTITUTE))));
entry('json-decode-ignore', 'php-json-decoder', 'output', '',
    unless(STRING, fn($s) => output(json_decode("\"$s\"", false, 2, JSON_INVALID_UTF8_IGNORE))));
entry('dom', 'libxml2', 'verdict output', '', unless(TEXT, function ($s) {
    $document = new DOMDocument(); return $document->loadXML("<a>$s</a>") ? [1, $document->textContent] : [0, null];
}), 'DOMDocument', $libxml);
entry('xml-parser', 'libxml2', 'verdict output', '', unless(TEXT, function ($s) {
    $parser = xml_parser_create('UTF-8'); $text = '';
    xml_set_character_data_handler($parser, function ($parser, $part) use (&$text) { $text .= $part; });
    return xml_parse($parser, "<a>$s</a>", true) ? [1, $text] : [0, null];
}), 'xml_parse', $libxml);
foreach (['UTF-16', 'UTF-16LE', 'UTF-16BE', 'UTF-32', 'UTF-32LE', 'UTF-32BE'] as $from) {
    $name = strtolower($from); $encoding = "encoding=$name\n";
    entry("$name-mb-check-encoding", 'php-mbstring', 'verdict', $encoding . MANUAL . 'function.mb-check-encoding.php',
        fn($s) => verdict(mb_check_encoding($s, $from)), 'mb_check_encoding');
    entry("$name-mb-convert-encoding", 'php-mbstring', 'output', "output=utf-32le\n$encoding" . MANUAL . 'function.mb-convert-encoding.php',
        fn($s) => output(mb_convert_encoding($s, 'UTF-32LE', $from)), 'mb_convert_encoding');
    entry("$name-uconverter", 'icu', 'output', "output=utf-16le\n$encoding" . MANUAL . 'uconverter.transcode.php',
        fn($s) => output(UConverter::transcode($s, 'UTF-16LE', $from)), 'UConverter', $icu);
    entry("$name-iconv", 'glibc', 'verdict output', "output=utf-32le\n$encoding" . MANUAL . 'function.iconv.php',
        fn($s) => strict(iconv($from, 'UTF-32LE', $s)), 'iconv', $iconv);
}
entry('utf8-decode', 'php-standard', 'output', '', unless('/[\xC4-\xFF]/',        // its output is Latin-1
    fn($s) => output(preg_replace_callback('/[\x80-\xFF]/', fn($m) => chr(0xC0 | ord($m[0]) >> 6) . chr(ord($m[0]) & 0xBF), utf8_decode($s)))));

function read($size) {
    for ($data = ''; strlen($data) < $size; $data .= $part) if (($part = fread(STDIN, $size - strlen($data))) === false || $part === '') exit(0);
    return $data;
}
$serve = isset($argv[1]) ? [$argv[1]] : array_keys($entries);
echo "utfuzz 1 frames\npackage=php\n", implode('', array_map(fn($name) => $entries[$name][0] ?? exit(1), $serve)), "\n";
$run = $entries[$serve[0]][1];
while (true) {
    $body = read(unpack('V', read(4))[1]);
    for ($at = 0, $reply = ''; $at < strlen($body); $at += 9 + $size) {
        $size = unpack('V', $body, $at + 5)[1];
        try { [$verdict, $text] = $run(substr($body, $at + 9, $size)); } catch (Throwable $e) { [$verdict, $text] = [4, $e->getMessage()]; }
        if ($verdict != 0 && $verdict != 1 && !is_string($text)) [$verdict, $text] = [4, 'answered ' . var_export($text, true)];
        $reply .= pack('CVVV', $verdict, 0xFFFFFFFF, 0xFFFFFFFF, $text === null ? 0xFFFFFFFF : strlen($text)) . $text;
    }
    fwrite(STDOUT, pack('V', strlen($reply)) . $reply);
}
