# Tcl's encoding command and its channels. Strings of Tcl 8.6 are UTF-16 inside, and are written so.
set streams [dict create]
set entries {tcl-encoding-convertfrom output tcl-channel {output stream}}
proc units {text} { encoding convertto unicode $text }
proc convertfrom {operation stream bytes} { units [encoding convertfrom utf-8 $bytes] }
proc channel {operation stream bytes} {
    global streams
    if {$operation eq "drop"} {
        if {[dict exists $streams $stream]} { foreach end [dict get $streams $stream] { chan close $end } }
        return [dict unset streams $stream]
    }
    if {$operation eq "decode"} { set stream none }
    if {![dict exists $streams $stream]} {
        lassign [chan pipe] from to
        chan configure $from -encoding utf-8 -translation lf -eofchar {} -blocking 0
        chan configure $to -translation binary -buffering none
        dict set streams $stream [list $from $to]
    }
    lassign [dict get $streams $stream] from to
    set text ""
    for {set at 0} {$at < [string length $bytes]} {incr at 4096} {    ;# a pipe holds only so much
        puts -nonewline $to [string range $bytes $at $at+4095]
        append text [read $from]
    }
    if {$operation ne "push"} { chan close $to; chan configure $from -blocking 1 }
    append text [read $from]
    if {$operation ne "push"} { chan close $from; dict unset streams $stream }
    units $text
}
proc answer {verdict {output {}}} { binary format ciiia* $verdict -1 -1 [string length $output] $output }
proc serve {run} {
    while {[string length [set head [read stdin 4]]] == 4} {
        binary scan $head iu size
        set body [read stdin $size]
        set reply {}
        for {set at 0} {$at < $size} {incr at [expr {9 + $length}]} {
            binary scan $body @${at}cuiuiu operation stream length
            set bytes [string range $body $at+9 [expr {$at + 8 + $length}]]
            if {[catch { $run [lindex {decode push finish drop} $operation] $stream $bytes } text]} {
                append reply [answer 4 [encoding convertto utf-8 $text]]
            } elseif {$operation == 3} {
                append reply [binary format ciii 2 -1 -1 -1]
            } else {
                append reply [answer 2 $text]
            }
        }
        puts -nonewline [binary format i [string length $reply]]$reply
        flush stdout
    }
}
set serve [expr {[llength $argv] ? [list [lindex $argv 0]] : [dict keys $entries]}]
chan configure stdin -translation binary
chan configure stdout -translation binary -buffering full
puts "utfuzz 1 frames\npackage=tcl\nversion=[info patchlevel]\noutput=utf-16le"
foreach name $serve { puts "name=$name\nanswers=[dict get $entries $name]" }
puts ""
flush stdout
serve [expr {[lindex $serve 0] eq "tcl-channel" ? "channel" : "convertfrom"}]
