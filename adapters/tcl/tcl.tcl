# Tcl's encoding command and its channels. Strings of Tcl 8.6 are UTF-16 inside, and are written so.
set streams [dict create]
set entries {tcl-encoding-convertfrom output tcl-channel {output stream}}
proc units {text} { encoding convertto unicode $text }
proc convertfrom {operation stream bytes} { units [encoding convertfrom utf-8 $bytes] }
proc channel {operation stream bytes} {
    global streams
    if {$operation eq "drop"} { return [dict unset streams $stream] }
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
set serve [expr {[llength $argv] ? [list [lindex $argv 0]] : [dict keys $entries]}]
chan configure stdin -translation lf -encoding ascii
chan configure stdout -translation lf -encoding ascii -buffering full
puts "utfuzz 1 lines\npackage=tcl\nversion=[info patchlevel]\noutput=utf-16le"
foreach name $serve { puts "name=$name\nanswers=[dict get $entries $name]" }
puts ""
flush stdout
set run [expr {[lindex $serve 0] eq "tcl-channel" ? "channel" : "convertfrom"}]
set batch {}
while {[gets stdin line] >= 0} {
    if {$line ne ""} { lappend batch $line; continue }
    foreach line $batch {
        regexp {^(?:(\d+)([-+=]))?(.*)$} $line all stream sign hex
        set operation [dict get {{} decode + push = finish - drop} $sign]
        if {$operation eq "decode"} { set stream none }
        if {[catch { $run $operation $stream [binary decode hex [string map {. {}} $hex]] } text]} {
            puts "4 -1 -1 [binary encode hex [encoding convertto utf-8 $text]]"
        } elseif {$operation eq "drop"} {
            puts "2 -1 -1 -"
        } elseif {$text eq ""} {
            puts "2 -1 -1 ."
        } else {
            puts "2 -1 -1 [binary encode hex $text]"
        }
    }
    set batch {}
    flush stdout
}
