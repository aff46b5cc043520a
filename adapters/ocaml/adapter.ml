(* OCaml's library uutf, whose decoder says of each ill-formed sequence which bytes it is. The standard library's own
   decoder came with OCaml 4.14. *)
let site = "source=https://erratique.ch/software/uutf/doc/Uutf/index.html\n"
let add = Buffer.add_utf_8_uchar
let unstated text = (2, -1, -1, Some text)

(* What a decoder gives until it is at its end or wants more; the first error is kept. *)
let rec drain decoder text first = match Uutf.decode decoder with
  | `Uchar c -> add text c; drain decoder text first
  | `Malformed bytes ->
    let at = Uutf.decoder_byte_count decoder - String.length bytes in
    add text Uutf.u_rep; drain decoder text (if first = None then Some (at, String.length bytes) else first)
  | `End | `Await -> first

let decode bytes =
  let text = Buffer.create 64 in
  match drain (Uutf.decoder ~encoding:`UTF_8 (`String bytes)) text None with
  | None -> (1, -1, -1, None, Buffer.contents text)
  | Some (at, length) -> (0, at, length, None, Buffer.contents text)

let fold bytes =
  let text = Buffer.create 64 in
  let first = Uutf.String.fold_utf_8 (fun first at c -> match c with
      | `Uchar c -> add text c; first
      | `Malformed bad -> add text Uutf.u_rep; if first = None then Some (at, String.length bad) else first) None bytes in
  match first with
  | None -> (1, -1, -1, None, Buffer.contents text)
  | Some (at, length) -> (0, at, length, None, Buffer.contents text)

let strict (verdict, at, _, _, _) = (verdict, at, -1, None)
let lengths (verdict, at, length, _, _) = (verdict, at, length, None)
let lossy (_, _, _, _, text) = unstated text
let promise bom = "contract=rfc3629 no-output incomplete-is-error " ^ bom ^ "\n" ^ site
let entries = [
  "ocaml-uutf-decoder", "verdict offset\n" ^ promise "bom-stripped", (fun b -> strict (decode b));
  "ocaml-uutf-decoder-length", "verdict offset length\n", (fun b -> lengths (decode b));
  "ocaml-uutf-decoder-replace", "output stream\n", (fun b -> lossy (decode b));
  "ocaml-uutf-fold", "verdict offset\n" ^ promise "bom-kept", (fun b -> strict (fold b));
  "ocaml-uutf-fold-length", "verdict offset length\n", (fun b -> lengths (fold b));
  "ocaml-uutf-fold-replace", "output\n", (fun b -> lossy (fold b)) ]

let streams = Hashtbl.create 8
let stream operation number bytes =
  let decoder = match Hashtbl.find_opt streams number with
    | Some decoder -> decoder
    | None -> let decoder = Uutf.decoder ~encoding:`UTF_8 `Manual in Hashtbl.add streams number decoder; decoder in
  let text = Buffer.create 64 in
  let give source at length = Uutf.Manual.src decoder source at length; ignore (drain decoder text None) in
  if Bytes.length bytes > 0 then give bytes 0 (Bytes.length bytes);   (* no bytes would mean the end *)
  if operation = 2 then (give Bytes.empty 0 0; Hashtbl.remove streams number);
  unstated (Buffer.contents text)

let () =
  set_binary_mode_in stdin true; set_binary_mode_out stdout true;
  let wanted = if Array.length Sys.argv > 1 then List.filter (fun (name, _, _) -> name = Sys.argv.(1)) entries else entries in
  (* uutf does not say its version at run time; setup compiles in what the package manager says. *)
  Printf.printf "utfuzz 1 frames\npackage=uutf\nversion=%s\nenvironment=OCaml %s\n" Version.uutf Sys.ocaml_version;
  List.iter (fun (name, head, _) -> Printf.printf "name=%s\nanswers=%s" name head) wanted;
  print_string "\n"; flush stdout;
  let (_, _, run) = List.hd wanted in
  let number bytes at = Int32.to_int (Bytes.get_int32_le bytes at) in
  try while true do
      let size = Bytes.create 4 in
      really_input stdin size 0 4;
      let body = Bytes.create (number size 0) in
      really_input stdin body 0 (Bytes.length body);
      let reply = Buffer.create 4096 and at = ref 0 in
      while !at < Bytes.length body do
        let operation = Bytes.get_uint8 body !at and id = number body (!at + 1) and length = number body (!at + 5) in
        let bytes = Bytes.sub body (!at + 9) length in
        at := !at + 9 + length;
        let verdict, offset, length, text = try match operation with
            | 0 -> run (Bytes.to_string bytes)
            | 3 -> Hashtbl.remove streams id; (2, -1, -1, None)
            | _ -> stream operation id bytes
          with error -> (4, -1, -1, Some (Printexc.to_string error)) in
        Buffer.add_uint8 reply verdict;
        let add number = Buffer.add_int32_le reply (Int32.of_int number) in
        add offset; add length;
        match text with None -> add (-1) | Some text -> add (String.length text); Buffer.add_string reply text
      done;
      let size = Bytes.create 4 in
      Bytes.set_int32_le size 0 (Int32.of_int (Buffer.length reply));
      print_bytes size; Buffer.output_buffer stdout reply; flush stdout
    done with End_of_file -> ()
