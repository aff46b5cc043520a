%% The decoders of Erlang/OTP and, where it is installed, of Elixir, whose functions are called from here.
%% Standard input and output are read as a port, because Erlang's own io server would decode them.
-module(utfuzz_adapter).
-export([main/0]).

-define(SITE, "\nsource=https://www.erlang.org/doc/").
strict(Page) -> "\ncontract=rfc3629 no-output incomplete-is-error" ++ ?SITE ++ Page.
told(Page) -> "\ncontract=rfc3629 no-output" ++ ?SITE ++ Page.

%% {name, lineage, answers and more, function}
entries() ->
    [{"erlang-characters-to-list", "erts", "verdict offset output" ++ told("man/unicode.html#characters_to_list-2"),
      fun(B) -> converted(B, unicode:characters_to_list(B, utf8)) end},
     {"erlang-characters-to-binary", "erts", "verdict offset output\noutput=utf-32le" ++ told("man/unicode.html#characters_to_binary-3"),
      fun(B) -> converted(B, unicode:characters_to_binary(B, utf8, {utf32, little})) end},
     {"erlang-characters-to-nfc-list", "erts", "verdict" ++ strict("man/unicode.html#characters_to_nfc_list-1"),
      fun(B) -> {element(1, converted(B, unicode:characters_to_nfc_list(B))), -1, -1, none} end},
     {"erlang-utf8-match", "erts-bs-utf8", "verdict offset output" ++ strict("reference_manual/expressions.html#bit-syntax-expressions"),
      fun(B) -> matched(B, B, []) end},
     {"erlang-utf8-comprehension", "erts-bs-utf8", "output", fun(B) -> {2, -1, -1, text([C || <<C/utf8>> <= B])} end},
     {"erlang-re", "pcre", "verdict", fun(B) -> re:run(B, "", [unicode, {capture, none}]), {1, -1, -1, none} end},
     {"erlang-string-length", "erts-bs-utf8", "verdict", fun(B) -> try string:length(B), {1, -1, -1, none} catch error:_ -> {0, -1, -1, none} end end},
     {"erlang-string-next-codepoint", "erts-bs-utf8", "verdict offset output", fun(B) -> stepped(B, B, []) end},
     {"erlang-uri-string-percent-decode", "erts", "verdict output",
      fun(B) -> {1, -1, -1, uri_string:percent_decode(<< <<(percent(C))/binary>> || <<C>> <= B >>)} end},
     {"erlang-xmerl-ucs", "xmerl", "verdict output", fun(B) -> {1, -1, -1, text(xmerl_ucs:from_utf8(B))} end},
     {"elixir-string-valid", "elixir", "verdict\ncontract=rfc3629 no-output incomplete-is-error\nsource=https://hexdocs.pm/elixir/String.html#valid?/1",
      fun(B) -> {case 'Elixir.String':'valid?'(B) of true -> 1; false -> 0 end, -1, -1, none} end},
     {"elixir-string-codepoints", "elixir", "output", fun(B) -> {2, -1, -1, marked('Elixir.String':codepoints(B))} end},
     {"elixir-string-graphemes", "elixir", "output", fun(B) -> {2, -1, -1, marked('Elixir.String':graphemes(B))} end},
     {"elixir-string-to-charlist", "erts", "verdict output", fun(B) -> {1, -1, -1, text('Elixir.String':to_charlist(B))} end}].

needs("elixir" ++ _) -> 'Elixir.String';
needs("erlang-xmerl" ++ _) -> xmerl_ucs;
needs(_) -> lists.

percent(C) -> list_to_binary(io_lib:format("%~2.16.0B", [C])).
text(Points) -> << <<(point(C))/binary>> || C <- Points >>.
point(C) when C >= 16#D800, C < 16#E000 -> <<16#ED, (((C bsr 6) band 63) bor 128), ((C band 63) bor 128)>>;   % shown as it is
point(C) -> <<C/utf8>>.
converted(_, Text) when is_list(Text) -> {1, -1, -1, text(Text)};
converted(_, Text) when is_binary(Text) -> {1, -1, -1, Text};
converted(B, {incomplete, _, Rest}) -> {0, byte_size(B) - iolist_size(Rest), 0, none};
converted(B, {error, _, Rest}) -> {0, byte_size(B) - iolist_size(Rest), -1, none}.
matched(_, <<>>, Points) -> {1, -1, -1, text(lists:reverse(Points))};
matched(B, <<C/utf8, Rest/binary>>, Points) -> matched(B, Rest, [C | Points]);
matched(B, Rest, _) -> {0, byte_size(B) - byte_size(Rest), -1, none}.
stepped(B, Rest, Points) ->
    case string:next_codepoint(Rest) of
        [] -> {1, -1, -1, text(lists:reverse(Points))};
        {error, Bad} -> {0, byte_size(B) - byte_size(Bad), -1, none};
        [C | More] -> stepped(B, iolist_to_binary(More), [C | Points])
    end.
%% Elixir leaves each ill-formed byte as a string of its own; the protocol has U+FFFD for that.
marked(Parts) -> << <<(case unicode:characters_to_list(P) of L when is_list(L) -> P; _ -> <<16#FFFD/utf8>> end)/binary>> || P <- Parts >>.

main() ->
    Elixir = filelib:wildcard("/usr/lib/elixir/lib/elixir/ebin"),
    code:add_pathsz(Elixir),
    All = [E || {Name, _, _, _} = E <- entries(), code:ensure_loaded(needs(Name)) =/= {error, nofile}],
    Serve = case init:get_plain_arguments() of [Name | _] -> [lists:keyfind(Name, 1, All)]; [] -> All end,
    Port = open_port({fd, 0, 1}, [stream, binary, eof]),
    port_command(Port, ["utfuzz 1 frames\n", [head(E) || E <- Serve], "\n"]),
    serve(Port, element(4, hd(Serve)), <<>>).
head({Name, Lineage, More, _}) ->
    {Package, Version} = case Name of
        "elixir" ++ _ -> application:load(elixir), {ok, V} = application:get_key(elixir, vsn), {"elixir", V};
        _ -> {"erlang", erlang:system_info(otp_release) ++ ", erts " ++ erlang:system_info(version)} end,
    io_lib:format("name=~s\npackage=~s\nversion=~s\nlineage=~s\nanswers=~s\n", [Name, Package, Version, Lineage, More]).
serve(Port, Run, <<Size:32/little, Body:Size/binary, Rest/binary>>) ->
    Reply = << <<(answer(Run, Operation, Bytes))/binary>> || <<Operation, _:32, Length:32/little, Bytes:Length/binary>> <= Body >>,
    port_command(Port, [<<(byte_size(Reply)):32/little>>, Reply]),
    serve(Port, Run, Rest);
serve(Port, Run, Part) ->
    receive {Port, {data, More}} -> serve(Port, Run, <<Part/binary, More/binary>>); {Port, eof} -> halt(0) end.
answer(Run, 0, Bytes) ->
    {Verdict, Offset, Length, Text} = try Run(Bytes)
        catch error:badarg -> {0, -1, -1, none};                       % what re says
              error:{badarg, _} -> {0, -1, -1, none};                  % what string says
              throw:{error, invalid_utf8, _} -> {0, -1, -1, none};     % what uri_string says
              exit:{ucs, _} -> {0, -1, -1, none};                      % what xmerl says
              error:#{'__struct__' := 'Elixir.UnicodeConversionError'} -> {0, -1, -1, none};
              Class:Reason -> {4, -1, -1, iolist_to_binary(io_lib:format("~p ~p", [Class, Reason]))} end,
    case Text of none -> <<Verdict, Offset:32/little, Length:32/little, -1:32/little>>;
                 _ -> <<Verdict, Offset:32/little, Length:32/little, (byte_size(Text)):32/little, Text/binary>> end.
