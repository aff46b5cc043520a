--  GNAT's decoders: those of Ada's standard library, and the package GNAT.Decode_UTF8_String. Output is UTF-32.
with Ada.Command_Line;   use Ada.Command_Line;
with Ada.Exceptions;     use Ada.Exceptions;
with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Ada.Strings.UTF_Encoding; use Ada.Strings.UTF_Encoding;
with Ada.Strings.UTF_Encoding.Wide_Wide_Strings;
with Ada.Strings.UTF_Encoding.Wide_Strings;
with GNAT.Compiler_Version;
with GNAT.Decode_UTF8_String;
with GNAT.OS_Lib;        use GNAT.OS_Lib;
with Interfaces;         use Interfaces;

procedure Adapter is
   package Compiler is new GNAT.Compiler_Version;
   LF   : constant Character := Character'Val (10);
   Page : constant String := "http://www.ada-auth.org/standards/12rm/html/RM-A-4-11.html";
   Reply : Unbounded_String;
   Entries : constant array (1 .. 5) of Unbounded_String :=
     (To_Unbounded_String ("ada-utf-encoding-wide-wide"), To_Unbounded_String ("ada-utf-encoding-wide"),
      To_Unbounded_String ("gnat-decode-utf8-string"), To_Unbounded_String ("gnat-validate-utf8-string"),
      To_Unbounded_String ("ada-utf-encoding-wide-wide-output"));
   Serve : Positive := 1;
   Size  : Natural;

   procedure Number (To : in out Unbounded_String; Value : Integer) is
      Rest : Unsigned_32 := (if Value < 0 then not Unsigned_32 (-(Value + 1)) else Unsigned_32 (Value));
   begin
      for Byte in 1 .. 4 loop
         Append (To, Character'Val (Rest and 255));
         Rest := Shift_Right (Rest, 8);
      end loop;
   end Number;

   function Read (Count : Natural) return String is
      Result : String (1 .. Count);
      Done   : Natural := 0;
      Got    : Integer;
   begin
      while Done < Count loop
         Got := Read (Standin, Result (Done + 1)'Address, Count - Done);
         if Got <= 0 then
            return "";
         end if;
         Done := Done + Got;
      end loop;
      return Result;
   end Read;

   function Value (From : String; At_Byte : Positive) return Natural is
     (Character'Pos (From (At_Byte)) + 256 * Character'Pos (From (At_Byte + 1)) + 65536 * Character'Pos (From (At_Byte + 2)));

   procedure Write (Text : String) is
      Done : Natural := 0;
   begin
      while Done < Text'Length loop
         Done := Done + Write (Standout, Text (Text'First + Done)'Address, Text'Length - Done);
      end loop;
   end Write;

   procedure Answer (Verdict : Natural; Text : String; Stated : Boolean) is
   begin
      Append (Reply, Character'Val (Verdict));
      Number (Reply, -1);
      Number (Reply, -1);
      Number (Reply, (if Stated then Text'Length else -1));
      Append (Reply, Text);
   end Answer;

   procedure Wide (Text : Wide_Wide_String) is
      Units : Unbounded_String;
   begin
      for C of Text loop
         Number (Units, Wide_Wide_Character'Pos (C));
      end loop;
      Answer (1, (if Serve = 1 then "" else To_String (Units)), Serve /= 1);
   end Wide;

   procedure Ask (Bytes : String) is
   begin
      case Serve is
         when 1 | 5 => Wide (Ada.Strings.UTF_Encoding.Wide_Wide_Strings.Decode (Bytes));
         when 2 =>
            if (for some C of Bytes => C >= Character'Val (16#F0#)) then
               Answer (3, "a Wide_String has 16 bits", True);
               return;
            end if;
            declare
               Text  : constant Wide_String := Ada.Strings.UTF_Encoding.Wide_Strings.Decode (Bytes);
               Wider : Wide_Wide_String (Text'Range);
            begin
               for I in Text'Range loop
                  Wider (I) := Wide_Wide_Character'Val (Wide_Character'Pos (Text (I)));
               end loop;
               Wide (Wider);
            end;
         when 3 => Wide (GNAT.Decode_UTF8_String.Decode_Wide_Wide_String (Bytes));
         when others => Answer ((if GNAT.Decode_UTF8_String.Validate_Wide_Wide_String (Bytes) then 1 else 0), "", False);
      end case;
   exception
      when Encoding_Error => Answer (0, "", False);
      when Problem : Constraint_Error =>                 --  what GNAT.Decode_UTF8_String raises for ill-formed text
         if Serve = 3 then
            Answer (0, "", False);
         else
            Answer (4, Exception_Information (Problem), True);
         end if;
      when Problem : others => Answer (4, Exception_Information (Problem), True);
   end Ask;

   Head : Unbounded_String := To_Unbounded_String
     ("utfuzz 1 frames" & LF & "package=gnat" & LF & "version=" & Compiler.Version & LF & "output=utf-32le" & LF);
begin
   for I in Entries'Range loop
      if Argument_Count = 0 or else Argument (1) = To_String (Entries (I)) then
         if Argument_Count > 0 then
            Serve := I;
         end if;
         Append (Head, "name=" & To_String (Entries (I)) & LF & "lineage=" & (if I in 1 | 2 | 5 then "gnat-utf-encoding" else "gnat-decode-string") & LF);
         Append (Head, "answers=verdict" & (if I in 2 | 3 | 5 then " output" else "") & LF);
         if I = 1 then
            Append (Head, "contract=rfc3629-with-overlong no-output incomplete-is-error" & LF & "source=" & Page & LF);
         end if;
      end if;
   end loop;
   Write (To_String (Head) & LF);
   loop
      declare
         Four : constant String := Read (4);
      begin
         exit when Four'Length < 4;
         Size := Value (Four, 1);
      end;
      declare
         Body_Text : constant String := Read (Size);
         At_Byte   : Positive := 1;
         Length    : Natural;
      begin
         Reply := Null_Unbounded_String;
         while At_Byte <= Body_Text'Last loop
            Length := Value (Body_Text, At_Byte + 5);
            Ask (Body_Text (At_Byte + 9 .. At_Byte + 8 + Length));
            At_Byte := At_Byte + 9 + Length;
         end loop;
         declare
            Total : Unbounded_String;
         begin
            Number (Total, Ada.Strings.Unbounded.Length (Reply));
            Write (To_String (Total) & To_String (Reply));
         end;
      end;
   end loop;
end Adapter;
