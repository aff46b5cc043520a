// Duktape's decoders: TextDecoder, decodeURIComponent, and the conversion of a plain buffer to a string.
var WHATWG = '\nsource=https://duktape.org/guide.html#builtin-textdecoder';
var streams = {};
function make(fatal, keep) { return new TextDecoder('utf-8', { fatal: fatal, ignoreBOM: keep }); }
function bytes(hex) {
    if (hex === '.') return new Uint8Array(0);
    var to = new Uint8Array(hex.length / 2);
    for (var i = 0; i < to.length; i++) to[i] = parseInt(hex.substr(2 * i, 2), 16);
    return to;
}
function two(byte) { return (byte < 16 ? '0' : '') + byte.toString(16); }
function units(text) {
    for (var i = 0, to = []; i < text.length; i++) to.push(two(text.charCodeAt(i) & 255), two(text.charCodeAt(i) >> 8));
    return to.length ? to.join('') : '.';
}
function decoder(fatal, keep, more) {
    return { answers: 'verdict output stream'.slice(fatal ? 0 : 8) + more, verdict: fatal ? 1 : 2,
        whole: function (hex) { return make(fatal, keep).decode(bytes(hex)); },
        chunk: function (id, hex, more) {
            var open = streams[id] || (streams[id] = { decoder: make(fatal, keep), rejected: false });
            if (!more) delete streams[id];
            if (open.rejected) throw new TypeError('rejected before');
            try { return open.decoder.decode(bytes(hex), { stream: more }); } catch (problem) { open.rejected = true; throw problem; }
        } };
}
var entries = {
    'duktape-textdecoder': decoder(false, false, '\ncontract=rfc3629 maximal-subpart U+FFFD bom-stripped incomplete-is-error' + WHATWG),
    'duktape-textdecoder-ignorebom': decoder(false, true, '\ncontract=rfc3629 maximal-subpart U+FFFD bom-kept incomplete-is-error' + WHATWG),
    'duktape-textdecoder-fatal': decoder(true, false, '\ncontract=rfc3629 no-output bom-stripped incomplete-is-error' + WHATWG),
    'duktape-decodeuricomponent': { verdict: 1,
        answers: 'verdict output\ncontract=rfc3629 no-output incomplete-is-error\nsource=https://262.ecma-international.org/5.1/#sec-15.1.3',
        whole: function (hex) { return decodeURIComponent(hex === '.' ? '' : hex.replace(/../g, '%$&')); } }
};
function greeting(name) {
    var v = Duktape.version, head = 'utfuzz 1 lines\npackage=duktape\nversion=' + [v / 10000 | 0, (v / 100 | 0) % 100, v % 100].join('.') + '\noutput=utf-16le\n';
    Object.keys(entries).forEach(function (key) {
        if (!name || key === name) head += 'name=' + key + '\nlineage=duktape-' + key.split('-')[1] + '\nanswers=' + entries[key].answers + '\n';
    });
    return head;
}
function answer(name, line) {
    var entry = entries[name || 'duktape-textdecoder'], part = /^(?:(\d+)([-+=]))?(.*)$/.exec(line), text;
    try {
        if (part[2] === '-') { delete streams[part[1]]; return '2 -1 -1 -'; }
        text = part[2] ? entry.chunk(part[1], part[3] || '.', part[2] === '+') : entry.whole(part[3]);
        return (part[2] === '+' ? 2 : entry.verdict) + ' -1 -1 ' + units(text);
    } catch (problem) {
        if (problem instanceof TypeError || problem instanceof URIError) return '0 -1 -1 -';
        return '4 -1 -1 ' + String(problem).split('').map(function (c) { return two(c.charCodeAt(0) & 127); }).join('');
    }
}
