;; -*- lexical-binding: t -*-
;; Emacs's decoder: decode-coding-string, which keeps each ill-formed byte as a character of its own above 3FFF80.
;; Output is UTF-32, in which those are written as what they are in Emacs: 3FFF80 to 3FFFFF.
(defun adapter-hex (text)
  (if (equal text "") "."
    (mapconcat (lambda (c) (format "%02x%02x%02x00" (logand c 255) (logand (ash c -8) 255) (ash c -16))) text "")))
(defun adapter-bytes (hex)
  (if (equal hex ".") ""
    (apply #'unibyte-string
           (let (bytes) (dotimes (i (/ (length hex) 2) (nreverse bytes)) (push (string-to-number (substring hex (* 2 i) (+ 2 (* 2 i))) 16) bytes))))))
(defvar adapter-manual "source=https://www.gnu.org/software/emacs/manual/html_node/elisp/")
(defun adapter-output (coding) (lambda (bytes) (concat "2 -1 -1 " (adapter-hex (decode-coding-string bytes coding)))))
(defvar adapter-entries
  (list (list "emacs-utf-8" "output\noutput=utf-32le" (adapter-output 'utf-8-unix))
        (list "emacs-utf-8-emacs" "output\noutput=utf-32le" (adapter-output 'utf-8-emacs-unix))
        (list "emacs-utf-8-with-signature" "output\noutput=utf-32le" (adapter-output 'utf-8-with-signature-unix))
        (list "emacs-utf-8-auto" "output\noutput=utf-32le" (adapter-output 'utf-8-auto-unix))
        (list "emacs-string-as-multibyte" "output\noutput=utf-32le"
              (lambda (bytes) (concat "2 -1 -1 " (adapter-hex (with-no-warnings (string-as-multibyte bytes))))))
        (list "emacs-json-parse-string" "verdict output\noutput=utf-32le\nlineage=emacs-json"
              (lambda (bytes)
                (if (string-match-p "[\"\\\\\0-\x1F]" bytes) "3 -1 -1 61204a534f4e20737472696e672063616e6e6f7420686f6c642074686973"
                  (condition-case nil (concat "1 -1 -1 " (adapter-hex (aref (json-parse-string (concat "[\"" bytes "\"]")) 0)))
                    ((json-error wrong-type-argument) "0 -1 -1 -")))))))
(unless (fboundp 'json-parse-string) (setq adapter-entries (butlast adapter-entries)))
(defun adapter-say (text) (send-string-to-terminal text))
(let* ((name (car command-line-args-left))
       (wanted (if name (list (assoc name adapter-entries)) adapter-entries))
       (run (nth 2 (car wanted))) (batch nil) line)
  (adapter-say (format "utfuzz 1 lines\npackage=emacs\nversion=%s\n" emacs-version))
  (dolist (entry wanted) (adapter-say (format "name=%s\nanswers=%s\n" (nth 0 entry) (nth 1 entry))))
  (adapter-say "\n")
  (while (setq line (condition-case nil (read-from-minibuffer "") (end-of-file nil)))
    (if (not (equal line "")) (push line batch)
      (adapter-say
       (mapconcat (lambda (hex)
                    (concat (condition-case problem (funcall run (adapter-bytes hex))
                              (error (concat "4 -1 -1 " (mapconcat (lambda (c) (format "%02x" c)) (encode-coding-string (format "%S" problem) 'utf-8) ""))))
                            "\n"))
                  (nreverse batch) ""))
      (setq batch nil))))
