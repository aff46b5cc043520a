{ Free Pascal's decoders: UTF8Decode, Utf8ToUnicode, TEncoding and Utf8CodePointLen. Output is UTF-16. }
{$mode objfpc}{$H+}
program adapter;
uses cwstring, SysUtils, Classes;

const
  Lineages: array[1..3] of string = ('fpc', 'fpc', 'glibc');
  Names: array[1..4] of string = ('fpc-utf8decode', 'fpc-utf8tounicode', 'fpc-tencoding', 'fpc-utf8codepointlen');

procedure PutNumber(Target: TStream; Number: LongInt);
begin
  Number := NtoLE(Number);
  Target.WriteBuffer(Number, 4);
end;

procedure Decode(Entry: Integer; const Bytes: RawByteString; Reply: TStream);
var
  Text: UnicodeString; Parts: TBytes; Verdict: Byte = 2; Count: SizeInt; At: Integer; Wide: Boolean = True; Offset: LongInt = -1; Reason: string = '';
begin
  Text := '';
  try
    case Entry of
      1: Text := UTF8Decode(Bytes);
      2: begin
        SetLength(Text, Length(Bytes) + 1);
        Count := Utf8ToUnicode(PUnicodeChar(Text), Length(Text), PChar(Bytes), Length(Bytes));
        if Count > 0 then SetLength(Text, Count - 1) else Text := '';    { the count has the final zero in it }
      end;
      3: begin
        SetLength(Parts, Length(Bytes));
        if Length(Bytes) > 0 then Move(Bytes[1], Parts[0], Length(Bytes));
        Text := TEncoding.UTF8.GetString(Parts);
      end;
      4: begin
        Wide := False; Verdict := 1; At := 0;
        while At < Length(Bytes) do begin
          Count := Utf8CodePointLen(@Bytes[At + 1], Length(Bytes) - At, False);
          if Count <= 0 then begin Verdict := 0; Offset := At; break; end;
          At := At + Count;
        end;
      end;
    end;
  except
    on Problem: Exception do begin Verdict := 4; Wide := False; Offset := -1; Reason := Problem.Message; end;
  end;
  Reply.WriteBuffer(Verdict, 1);
  PutNumber(Reply, Offset);
  PutNumber(Reply, -1);
  if Verdict = 4 then begin
    PutNumber(Reply, Length(Reason));
    if Reason <> '' then Reply.WriteBuffer(Reason[1], Length(Reason));
  end else if Wide then begin
    PutNumber(Reply, 2 * Length(Text));
    if Text <> '' then Reply.WriteBuffer(Text[1], 2 * Length(Text));
  end else
    PutNumber(Reply, -1);
end;

var
  Input_, Output_: THandleStream; Entry, Number: Integer; Greeting: string; Size, Stream, Length_: LongInt; Operation: Byte;
  Body, Reply: TMemoryStream; Bytes: RawByteString;

procedure ReadAll(Target: TMemoryStream; Size: LongInt);
var At, Got: LongInt;
begin
  Target.Size := Size; Target.Position := 0; At := 0;
  while At < Size do begin
    Got := Input_.Read((Target.Memory + At)^, Size - At);
    if Got <= 0 then halt(0);
    Inc(At, Got);
  end;
end;

begin
  Input_ := THandleStream.Create(StdInputHandle);
  Output_ := THandleStream.Create(StdOutputHandle);
  Entry := 1;
  Greeting := 'utfuzz 1 frames' + #10 + 'package=fpc' + #10 + 'version=' + {$I %FPCVERSION%} + #10;
  for Number := 1 to 4 do
    if (ParamCount = 0) or (ParamStr(1) = Names[Number]) then begin
      if ParamCount > 0 then Entry := Number;
      if Number = 4 then
        Greeting := Greeting + 'name=' + Names[4] + #10'lineage=fpc-codepointlen'#10'answers=verdict offset'#10
      else
        Greeting := Greeting + 'name=' + Names[Number] + #10'lineage=' + Lineages[Number] + #10'answers=output'#10'output=utf-16le'#10;
    end;
  Greeting := Greeting + #10;
  Output_.WriteBuffer(Greeting[1], Length(Greeting));
  Body := TMemoryStream.Create;
  Reply := TMemoryStream.Create;
  repeat
    ReadAll(Body, 4);
    Size := LEtoN(PLongInt(Body.Memory)^);
    ReadAll(Body, Size);
    Reply.Clear;
    PutNumber(Reply, 0);
    Body.Position := 0;
    while Body.Position < Size do begin
      Body.ReadBuffer(Operation, 1);
      Body.ReadBuffer(Stream, 4);
      Body.ReadBuffer(Length_, 4);
      Bytes := '';
      SetLength(Bytes, LEtoN(Length_));
      if Length_ > 0 then Body.ReadBuffer(Bytes[1], LEtoN(Length_));
      Decode(Entry, Bytes, Reply);
    end;
    Size := Reply.Size - 4;
    Reply.Position := 0;
    PutNumber(Reply, Size);
    Output_.WriteBuffer(Reply.Memory^, Reply.Size);
  until False;
end.
