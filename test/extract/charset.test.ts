import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBody } from "../../src/domain/text/charset.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");
/** A page in an encoding that Node can only read: every byte pair that decodes to the wanted letters. */
function encode(text: string, charset: string): Buffer {
  const table = new Map<string, number[]>();
  const decoder = new TextDecoder(charset);
  for (let first = 0; first < 256; first += 1) {
    const one = decoder.decode(Uint8Array.of(first));
    if (one !== "\ufffd" && !table.has(one)) table.set(one, [first]);
    if (first < 0x81) continue;
    for (let second = 0x40; second < 0xff; second += 1) {
      const two = decoder.decode(Uint8Array.of(first, second));
      if (two.length === 1 && two !== "\ufffd" && !table.has(two)) table.set(two, [first, second]);
    }
  }
  return Buffer.from([...text].flatMap((char) => table.get(char) ?? [63]));
}

const JAPANESE = "これは日本語の文章です。文字の符号を正しく読むことができるかどうかを調べます。";
const RUSSIAN = "это русский текст который нужно прочитать правильно без всяких подсказок";

const CASES: readonly [user: string, bytes: Buffer, contentType: string | null, text: string, charset: string][] = [
  ["plain ASCII", Buffer.from("abc"), "text/html", "abc", "utf-8"],
  ["UTF-8 by header", Buffer.from("é"), "text/html; charset=utf-8", "é", "utf-8"],
  ["UTF-8 without a word about it", Buffer.from("é"), null, "é", "utf-8"],
  ["UTF-8 under a header that lies", Buffer.from("naïve café"), "text/html; charset=ISO-8859-1", "naïve café", "utf-8"],
  [
    "UTF-8 under a meta that lies",
    Buffer.from("<meta charset=latin1>café"),
    "text/html",
    "<meta charset=latin1>café",
    "utf-8",
  ],
  ["Latin-1 by header", latin1("café"), "text/html; charset=iso-8859-1", "café", "windows-1252"],
  [
    "Latin-1 under a header that says UTF-8",
    latin1("café au lait, déjà vu"),
    "text/html; charset=utf-8",
    "café au lait, déjà vu",
    "windows-1252",
  ],
  ["Latin-1 without a word", latin1("Müller & Söhne"), null, "Müller & Söhne", "windows-1252"],
  [
    "the meta tag counts when the header says nothing",
    Buffer.concat([Buffer.from("<meta charset=windows-1251>"), encode("Привет", "windows-1251")]),
    "text/html",
    "<meta charset=windows-1251>Привет",
    "windows-1251",
  ],
  [
    "http-equiv counts too",
    Buffer.concat([
      Buffer.from(`<meta http-equiv=content-type content="text/html; charset=koi8-r">`),
      encode("Привет", "koi8-r"),
    ]),
    null,
    `<meta http-equiv=content-type content="text/html; charset=koi8-r">Привет`,
    "koi8-r",
  ],
  [
    "an XML declaration counts",
    Buffer.concat([Buffer.from(`<?xml version="1.0" encoding="windows-1251"?>`), encode("Да", "windows-1251")]),
    "text/xml",
    `<?xml version="1.0" encoding="windows-1251"?>Да`,
    "windows-1251",
  ],
  ["a charset nobody knows is ignored", latin1("café"), "text/html; charset=klingon", "café", "windows-1252"],
  ["a mark at the start wins over the header", Buffer.from("\ufeffé"), "text/html; charset=iso-8859-1", "é", "utf-8"],
  ["UTF-16 with a mark", Buffer.from("\ufeff<p>é", "utf16le"), null, "<p>é", "utf-16le"],
  ["UTF-16 without a mark", Buffer.from("<html><p>abc", "utf16le"), null, "<html><p>abc", "utf-16le"],
  [
    "a header that says UTF-16 over plain letters lies",
    Buffer.from("<p>abc"),
    "text/html; charset=utf-16",
    "<p>abc",
    "utf-8",
  ],
  [
    "UTF-16 by header",
    Buffer.from("漢字仮名交じり文", "utf16le"),
    "text/html; charset=utf-16le",
    "漢字仮名交じり文",
    "utf-16le",
  ],
  ["a meta that says UTF-16 lies", Buffer.from("<meta charset=utf-16>é"), null, "<meta charset=utf-16>é", "utf-8"],
  ["Shift_JIS without a word", encode(JAPANESE, "shift_jis"), null, JAPANESE, "shift_jis"],
  ["EUC-JP without a word", encode(JAPANESE, "euc-jp"), null, JAPANESE, "euc-jp"],
  ["windows-1251 without a word", encode(RUSSIAN, "windows-1251"), null, RUSSIAN, "windows-1251"],
  ["KOI8-R without a word", encode(RUSSIAN, "koi8-r"), null, RUSSIAN, "koi8-r"],
  [
    "Shift_JIS under a header that says UTF-8",
    encode(JAPANESE, "shift_jis"),
    "text/html; charset=utf-8",
    JAPANESE,
    "shift_jis",
  ],
];

for (const [user, bytes, contentType, text, charset] of CASES) {
  test(`${user}`, () => assert.deepEqual(decodeBody(bytes, contentType), { text, charset }));
}

test("UTF-8 cut in the middle of a character, or with one bad byte, stays UTF-8", () => {
  const bytes = Buffer.from("Größe und Maß für Straße — überall schön".repeat(20));
  assert.equal(decodeBody(bytes.subarray(0, bytes.length - 1), null).charset, "utf-8");
  const cut = Buffer.concat([bytes, Buffer.from("ü").subarray(0, 1)]);
  assert.equal(decodeBody(cut, "text/html; charset=utf-8").charset, "utf-8");
  const bad = Buffer.concat([Buffer.from([0xff]), bytes]);
  assert.equal(decodeBody(bad, null).charset, "utf-8");
});
