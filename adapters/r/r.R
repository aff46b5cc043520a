# R's decoders: validUTF8, utf8ToInt, iconv, nchar and the functions on strings. A string of R cannot hold a zero byte.
site <- "source=https://stat.ethz.ch/R-manual/R-patched/library/"
strict <- function(page) paste0("verdict\ncontract=rfc3629 no-output incomplete-is-error\n", site, page)
bytes_of <- function(hex) {
  if (hex == ".") return(raw(0))
  at <- seq(1L, nchar(hex), 2L)
  as.raw(strtoi(substring(hex, at, at + 1L), 16L))
}
hex_of <- function(bytes) if (length(bytes)) paste(format(bytes), collapse = "") else "."
text <- function(bytes) { s <- rawToChar(bytes); Encoding(s) <- "UTF-8"; s }
wide <- function(points) {                               # UTF-32, little endian
  points <- as.integer(points)
  if (!length(points)) return(".")
  hex_of(as.raw(rbind(points %% 256L, points %/% 256L %% 256L, points %/% 65536L, 0L)))
}
verdict <- function(good) if (good) "1 -1 -1 -" else "0 -1 -1 -"
told <- function(bytes) if (is.null(bytes)) "0 -1 -1 -" else paste("1 -1 -1", hex_of(bytes))
string <- function(f) function(b) if (any(b == 0)) "3 -1 -1 6120737472696E672063616E6E6F7420686F6C642061207A65726F2062797465" else f(text(b))
entries <- list(
  "r-validutf8" = list("r-pcre-utf8", strict("base/html/validUTF8.html"), string(function(s) verdict(validUTF8(s)))),
  "r-validenc" = list("r-pcre-utf8", strict("base/html/validUTF8.html"), string(function(s) verdict(validEnc(s)))),
  "r-utf8toint" = list("r-util", sub("verdict", "verdict output\noutput=utf-32le", strict("base/html/utf8Conversion.html")), string(function(s) {
    points <- utf8ToInt(s)
    if (length(points) && anyNA(points)) verdict(FALSE) else paste("1 -1 -1", wide(points))
  })),
  "r-nchar" = list("r-util", "verdict", string(function(s) verdict(!inherits(try(nchar(s, "chars"), silent = TRUE), "try-error")))),
  "r-nchar-width" = list("r-util", "verdict", string(function(s) verdict(!is.na(nchar(s, "width", allowNA = TRUE))))),
  "r-iconv" = list("glibc", sub("verdict", "verdict output\noutput=utf-32le", strict("base/html/iconv.html")),
    string(function(s) told(iconv(s, "UTF-8", "UTF-32LE", toRaw = TRUE)[[1]]))),
  "r-iconv-raw" = list("glibc", sub("verdict", "verdict output\noutput=utf-8", strict("base/html/iconv.html")),
    function(b) told(iconv(list(b), "UTF-8", "UTF-8", toRaw = TRUE)[[1]])),
  "r-iconv-sub" = list("glibc", "output\noutput=utf-8",
    function(b) sub("^1", "2", told(iconv(list(b), "UTF-8", "UTF-8", sub = "\uFFFD", toRaw = TRUE)[[1]]))),
  "r-regexpr-perl" = list("r-pcre-utf8", "verdict", string(function(s) tryCatch({ regexpr(".", s, perl = TRUE); verdict(TRUE) }, warning = function(w) verdict(FALSE)))),
  "r-tolower" = list("r-util", "verdict", string(function(s) verdict(!inherits(try(tolower(s), silent = TRUE), "try-error")))))
arguments <- commandArgs(trailingOnly = TRUE)
wanted <- if (length(arguments)) arguments[1] else names(entries)
out <- stdout()
writeLines(c("utfuzz 1 lines", "package=r", paste0("version=", getRversion()), paste0("environment=", extSoftVersion()[["iconv"]], ", PCRE ", extSoftVersion()[["PCRE"]]),
  vapply(wanted, function(n) paste0("name=", n, "\nlineage=", entries[[n]][[1]], "\nanswers=", entries[[n]][[2]]), ""), ""), out)
flush(out)
run <- entries[[wanted[1]]][[3]]
con <- file("stdin", "r")
batch <- character()
while (length(line <- readLines(con, 1L))) {
  if (nzchar(line)) { batch[[length(batch) + 1L]] <- line; next }
  writeLines(vapply(batch, function(hex) tryCatch(run(bytes_of(hex)),
    error = function(e) paste("4 -1 -1", hex_of(charToRaw(conditionMessage(e))))), ""), out)
  flush(out)
  batch <- character()
}
