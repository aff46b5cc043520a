/* OpenSSL: the UTF-8 of ASN.1 strings and of PKCS#12 passwords. */
#include "adapter.h"
#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>

static void getc_(const entry *e, const uint8_t *in, size_t n)
{
    (void)e, accepted(), write_output("", 0);
    for (size_t at = 0; at < n;) {
        unsigned long c;
        int length = UTF8_getc(in + at, (int)(n - at), &c);
        if (length < 0) { rejected((long)at, length == -1 ? 0 : -1); return; }
        uint32_t u = (uint32_t)c;
        write_output(&u, 4), at += (size_t)length;
    }
}

static void asn1(const entry *e, const uint8_t *in, size_t n)
{
    ASN1_STRING *out = NULL;
    (void)e;
    if (ASN1_mbstring_copy(&out, in, (int)n, MBSTRING_UTF8, B_ASN1_UTF8STRING) >= 0)
        accepted(), write_output(ASN1_STRING_get0_data(out), (size_t)ASN1_STRING_length(out));
    else rejected(-1, -1);
    ASN1_STRING_free(out), ERR_clear_error();
}

static void bmp(const entry *e, const uint8_t *in, size_t n)
{
    unsigned char *out = NULL;
    int length;
    (void)e;
    if (n && OPENSSL_utf82uni((const char *)in, (int)n, &out, &length)) {
        for (int i = 0; i + 2 < length; i += 2) write_output((unsigned char[]){out[i + 1], out[i]}, 2);
    } else if (n) broken("no string");
    else impossible("without a length the string must end with a zero byte");
    OPENSSL_free(out), ERR_clear_error();
}

static const entry entries[] = {
    {"openssl-utf8-getc", "verdict offset length output", "utf-32le", .decode = getc_},
    {"openssl-asn1-mbstring-copy", "verdict output", .decode = asn1},
    {"openssl-utf82uni", "output", "utf-16le", .decode = bmp},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("openssl", OpenSSL_version(OPENSSL_VERSION_STRING), NULL, entries); }
