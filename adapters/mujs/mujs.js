// MuJS's decodeURIComponent. There is one entry point. Strings of MuJS are C strings, which cannot hold a zero byte.
function two(byte) { return (byte < 16 ? '0' : '') + byte.toString(16); }
function wide(text) {
    for (var i = 0, to = []; i < text.length; i++) {
        var c = text.charCodeAt(i);
        to.push(two(c & 255) + two(c >> 8 & 255) + two(c >> 16) + '00');
    }
    return to.length ? to.join('') : '.';
}
function greeting(version) {
    return 'utfuzz 1 lines\npackage=mujs\nversion=' + version + '\nname=mujs-decodeuricomponent\nanswers=verdict output\noutput=utf-32le\n' +
        'contract=rfc3629 no-output incomplete-is-error\nsource=https://262.ecma-international.org/5.1/#sec-15.1.3\n';
}
function answer(hex) {
    for (var i = 0, percent = []; hex !== '.' && i < hex.length; i += 2) {
        var byte = hex.substring(i, i + 2);
        if (byte === '00') return '3 -1 -1 6120737472696e672063616e6e6f7420686f6c642061207a65726f2062797465';
        percent.push('%', byte);
    }
    try { return '1 -1 -1 ' + wide(decodeURIComponent(percent.join(''))); } catch (problem) {
        if (problem instanceof URIError) return '0 -1 -1 -';
        for (var j = 0, text = String(problem), to = []; j < text.length; j++) to.push(two(text.charCodeAt(j) & 127));
        return '4 -1 -1 ' + to.join('');
    }
}
