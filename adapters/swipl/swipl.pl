% SWI-Prolog's decoders: streams with the encoding utf8, and the library utf8. Output is UTF-32, as codes can be anything.
:- use_module(library(utf8)).
:- use_module(library(memfile)).
:- use_module(library(readutil)).
:- use_module(library(main)).
:- initialization(adapter, main).

% A stream that meets ill-formed bytes goes on with a warning, which is its verdict.
:- dynamic warned/0.
:- multifile user:message_hook/3.
user:message_hook(io_warning(_, _), _, _) :- assertz(warned).

entry('swipl-stream', 'swipl-stream', 'verdict output').
entry('swipl-library-utf8', 'swipl-library', 'verdict output').

run('swipl-stream', Bytes, Verdict, Codes) :-
    retractall(warned), in_memory(Bytes, File),
    open_memory_file(File, read, In, [encoding(utf8)]), set_stream(In, newline(posix)),
    read_stream_to_codes(In, Codes), close(In), free_memory_file(File),
    ( warned -> Verdict = 0 ; Verdict = 1 ).
run('swipl-library-utf8', Bytes, Verdict, Codes) :-
    ( phrase(utf8_codes(Codes), Bytes) -> Verdict = 1 ; Verdict = 0, Codes = none ).
in_memory(Bytes, File) :-
    new_memory_file(File),
    open_memory_file(File, write, Out, [encoding(octet)]), maplist(put_byte(Out), Bytes), close(Out).

bytes([0'.], []) :- !.
bytes([], []).
bytes([A, B | Rest], [Byte | Bytes]) :- code_type(A, xdigit(High)), code_type(B, xdigit(Low)), Byte is High * 16 + Low, bytes(Rest, Bytes).
say(Verdict, none) :- !, format("~d -1 -1 -~n", [Verdict]).
say(Verdict, []) :- !, format("~d -1 -1 .~n", [Verdict]).
say(Verdict, Codes) :- format("~d -1 -1 ", [Verdict]), maplist(wide, Codes), nl.
wide(Code) :- A is Code /\ 255, B is (Code >> 8) /\ 255, C is Code >> 16, maplist(hex, [A, B, C, 0]).
hex(Byte) :- format("~|~`0t~16r~2+", [Byte]).
answer(Name, Line) :-
    bytes(Line, Bytes),
    catch(( run(Name, Bytes, Verdict, Codes) -> say(Verdict, Codes) ; say(0, none) ), Problem,
          ( with_output_to(codes(Text), print_message_text(Problem)), format("4 -1 -1 "), maplist(hex, Text), nl )).
print_message_text(Problem) :- format("~q", [Problem]).

adapter :-
    current_prolog_flag(argv, Arguments),
    ( Arguments = [Only | _] -> true ; true ),
    current_prolog_flag(version, V), Major is V // 10000, Minor is V // 100 mod 100, Patch is V mod 100,
    format("utfuzz 1 lines~npackage=swipl~nversion=~d.~d.~d~noutput=utf-32le~n", [Major, Minor, Patch]),
    forall(( entry(Name, Lineage, Answers), ( var(Only) -> true ; Only == Name ) ), format("name=~w~nlineage=~w~nanswers=~w~n", [Name, Lineage, Answers])),
    nl, flush_output,
    ( var(Only) -> Only = 'swipl-stream' ; true ),
    batch(Only, []).
batch(Name, Lines) :-
    read_line_to_codes(user_input, Line),
    (   Line == end_of_file -> true
    ;   Line == [] -> reverse(Lines, Ordered), forall(member(One, Ordered), answer(Name, One)), flush_output, batch(Name, [])
    ;   batch(Name, [Line | Lines])
    ).
