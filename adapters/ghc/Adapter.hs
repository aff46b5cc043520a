{-# LANGUAGE CPP, ScopedTypeVariables #-}
-- The decoders of Haskell: the package text, strict, lazy and as a stream, and the handles of GHC. A String may hold
-- anything, so that what handles give is written as UTF-32.
module Main (main) where

import Control.Exception
import qualified Data.ByteString as B
import qualified Data.ByteString.Builder as Out
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Lazy as L
import Data.Bits (shiftL)
import Data.Char (ord)
import Data.IORef
import Data.Int (Int32)
import qualified Data.Map as M
import qualified Data.Text as T
import qualified Data.Text.Encoding as E
import qualified Data.Text.Encoding.Error as E
import qualified Data.Text.Lazy as TL
import qualified Data.Text.Lazy.Encoding as LE
import Data.Version (showVersion)
import System.Directory (getTemporaryDirectory, removeFile)
import System.Environment (getArgs)
import System.Exit (exitSuccess)
import System.IO
import System.Info (compilerVersion)

data Answer = Answer Int (Maybe B.ByteString)
type Step = B.ByteString -> E.Decoding
data Entry = Entry { name, answers :: String, run :: B.ByteString -> IO Answer, stream :: Maybe E.OnDecodeError }

strict :: String
strict = "\ncontract=rfc3629 no-output incomplete-is-error\nsource=https://hackage.haskell.org/package/text/docs/Data-Text-Encoding.html"
lenient :: String
lenient = "\ncontract=rfc3629 byte U+FFFD incomplete-is-error\nsource=https://hackage.haskell.org/package/text/docs/Data-Text-Encoding-Error.html"

entries :: FilePath -> [Entry]
entries file =
  [ Entry "ghc-text-decodeutf8" ("verdict output" ++ strict) (pure . either (const rejected) (good . E.encodeUtf8) . E.decodeUtf8') Nothing
  , Entry "ghc-text-lenient" ("output stream" ++ lenient) (pure . told . E.encodeUtf8 . E.decodeUtf8With E.lenientDecode) (Just E.lenientDecode)
  , Entry "ghc-text-ignore" "output stream" (pure . told . E.encodeUtf8 . E.decodeUtf8With E.ignore) (Just E.ignore)
  , Entry "ghc-text-lazy-decodeutf8" ("verdict output" ++ strict) (pure . either (const rejected) (good . whole) . LE.decodeUtf8' . pieces) Nothing
  , Entry "ghc-text-lazy-lenient" ("output" ++ lenient) (pure . told . whole . LE.decodeUtf8With E.lenientDecode . pieces) Nothing
  , handle "utf8" "verdict output" good utf8'
  , handle "utf8-bom" "verdict output" good (const (pure utf8_bom))
  , handle "ignore" "output" told (const (mkTextEncoding "UTF-8//IGNORE"))
  , handle "roundtrip" "output" told (const (mkTextEncoding "UTF-8//ROUNDTRIP")) ]
  where
    utf8' _ = pure utf8
    pieces = L.fromChunks . map B.singleton . B.unpack       -- lazy text is decoded in chunks, here of one byte
    whole = E.encodeUtf8 . TL.toStrict
    handle n a make encoding = Entry ("ghc-handle-" ++ n) (a ++ "\noutput=utf-32le\nlineage=ghc-base") (\bytes -> do
      B.writeFile file bytes
      chosen <- encoding ()
      text <- withFile file ReadMode $ \h -> do
        hSetEncoding h chosen
        hSetNewlineMode h noNewlineTranslation
        s <- hGetContents h
        _ <- evaluate (length s)
        pure s
      pure (make (L.toStrict (Out.toLazyByteString (mconcat [Out.word32LE (fromIntegral (ord c)) | c <- text]))))) Nothing

rejected :: Answer
rejected = Answer 0 Nothing
good, told :: B.ByteString -> Answer
good = Answer 1 . Just
told = Answer 2 . Just

number :: B.ByteString -> Int
number = sum . zipWith (\place byte -> fromIntegral byte `shiftL` place) [0, 8, 16, 24] . B.unpack . B.take 4

streamed :: IORef (M.Map Int Step) -> E.OnDecodeError -> Int -> Int -> B.ByteString -> IO Answer
streamed open onError operation ident bytes = do
  step <- M.findWithDefault (E.streamDecodeUtf8With onError) ident <$> readIORef open
  let E.Some text rest next = step bytes
  modifyIORef open (if operation == 2 then M.delete ident else M.insert ident next)
  -- What is left at the end streamDecodeUtf8With leaves to its caller.
  _ <- evaluate (T.length text)
  pure (told (E.encodeUtf8 text <> (if operation == 2 && not (B.null rest) then E.encodeUtf8 (E.decodeUtf8With onError rest) else B.empty)))

ask :: IORef (M.Map Int Step) -> Entry -> Int -> Int -> B.ByteString -> IO Answer
ask open entry operation ident bytes = handle (do
    Answer verdict text <- case (operation, stream entry) of
      (0, _) -> run entry bytes
      (3, _) -> modifyIORef open (M.delete ident) >> pure (Answer 2 Nothing)
      (_, Just onError) -> streamed open onError operation ident bytes
      _ -> pure (Answer 4 (Just (C.pack "no streams")))
    _ <- evaluate (maybe 0 B.length text)
    pure (Answer verdict text))
  where
    handle action = action `catches`
      [ Handler (\(_ :: E.UnicodeException) -> pure rejected)
      , Handler (\(problem :: IOException) -> pure (if any (C.pack "invalid byte sequence" `B.isPrefixOf`) (B.tails (C.pack (show problem))) then rejected else Answer 4 (Just (C.pack (show problem)))))
      , Handler (\(problem :: SomeException) -> pure (Answer 4 (Just (C.pack (show problem))))) ]

main :: IO ()
main = do
  arguments <- getArgs
  temporary <- getTemporaryDirectory
  (file, h) <- openBinaryTempFile temporary "utfuzz-ghc"
  hClose h
  hSetBinaryMode stdin True
  hSetBinaryMode stdout True
  open <- newIORef M.empty
  let wanted = [e | e <- entries file, null arguments || name e == head arguments]
  putStr ("utfuzz 1 frames\npackage=ghc\nversion=" ++ showVersion compilerVersion ++ ", text " ++ VERSION_text ++ "\nlineage=haskell-text\n")
  mapM_ (\e -> putStr ("name=" ++ name e ++ "\nanswers=" ++ answers e ++ "\n")) wanted
  putStr "\n"
  hFlush stdout
  let serve = do
        size <- B.hGet stdin 4
        if B.length size < 4 then removeFile file >> exitSuccess else do
          body <- B.hGet stdin (number size)
          replies <- items body
          let reply = L.toStrict (Out.toLazyByteString (mconcat replies))
          Out.hPutBuilder stdout (Out.int32LE (fromIntegral (B.length reply)) <> Out.byteString reply)
          hFlush stdout
          serve
      items body | B.null body = pure []
                 | otherwise = do
        let size = number (B.drop 5 body)
        Answer verdict text <- ask open (head wanted) (fromIntegral (B.head body)) (number (B.drop 1 body)) (B.take size (B.drop 9 body))
        let minus = Out.int32LE (-1 :: Int32)
            item = Out.word8 (fromIntegral verdict) <> minus <> minus <> maybe minus (\t -> Out.int32LE (fromIntegral (B.length t)) <> Out.byteString t) text
        (item :) <$> items (B.drop (9 + size) body)
  serve
