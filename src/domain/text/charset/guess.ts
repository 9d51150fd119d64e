/**
 * Guesses an undeclared encoding: the one in which the bytes form words of a language. Tags and scripts are ASCII in any
 * language, so only the text between them is examined.
 */
import { singleByteCharset } from "./single-byte.ts";

/** Limits for the searched page and the examined text. */
const PAGE_BYTES = 256 * 1024;
const TEXT_BYTES = 16 * 1024;

/** The most common Chinese characters, simplified and traditional: a third of any text, a thirtieth of random bytes. */
const HAN =
  /[的一是不了在人有我他这這中大来來上国國个個到说說们們为為子和你地出道也时時年得就那要下以生会會自着著去之过過家学學对對可她里裡后後小么麼心多天而能好都然没沒日于於起还還发發成事只作当當想看文无無开開手十用主行方又如前所本见見经經头頭面公同三已老从從动動两兩长長知民样樣现現分将將外但身些与與高意进進把法此实實回二理美点點月明其种種声聲全工己话話者向情部正名定女问問力机機给給等几幾很业業最间間新什打便位因重被走电電四第门門相次东東政海口使教西再平真听聽世气氣信北少关關并並内內加化由却代军軍产產入先山五太水万萬市眼体體别別处處总總才场場师師书書比住员員九笑性通目华華报報立马馬命张張活难難神数數件安表原车車白应應路期叫死常提感金何更反合放做系計计或司利受光王果亲親界及今京务務制解各任至清物台象记記边邊共风風战戰干幹接它许許八特觉覺望直服毛林题題建南度统統色字请請交爱愛让讓认認算论論百吃义義科怎元社术術结結六功指思非流每青管夫连連远遠资資队隊跟带帶花快条條院变變联聯权權往展该該领領传傳近留红紅治决決周保达達办辦运運武半候七必城父强強步完革深区區]/g;

/**
 * Frequent letters of the language, and their minimal share of the non-ASCII characters; the second, lower share applies
 * when no other encoding yields words.
 */
const MULTI_BYTE: readonly [charset: string, letters: RegExp, share: number, lowShare: number][] = [
  ["shift_jis", /[\u3040-\u30ff]/g, 0.3, 0.1],
  ["euc-jp", /[\u3040-\u30ff]/g, 0.3, 0.1],
  ["gb18030", HAN, 0.35, 0.15],
  ["big5", HAN, 0.35, 0.15],
  ["euc-kr", /[\uac00-\ud7a3]/g, 0.6, 0.6],
];
/** Two bytes may form a common letter by chance. */
const MIN_LETTERS = 3;

/** WHATWG name; windows-1252 without evidence for another one. */
export function guessCharset(page: Buffer): string {
  const text = textBetweenTags(page.toString("latin1", 0, PAGE_BYTES));
  const bytes = Buffer.from(text, "latin1");
  if (!hasWordsBeyondAscii(text)) return singleByteCharset(bytes, false) ?? "windows-1252";
  return (
    multiByteCharset(bytes, false) ?? singleByteCharset(bytes, true) ?? multiByteCharset(bytes, true) ?? "windows-1252"
  );
}

/** Latin words have one or two non-ASCII letters in a row; words of other scripts consist of them. */
function hasWordsBeyondAscii(text: string): boolean {
  const inWords = text.match(/[\x80-\xff]{3,}/g)?.join("").length ?? 0;
  return inWords * 4 > (text.match(/[\x80-\xff]/g)?.length ?? 0);
}

/** No web encoding uses `<` or `>` inside a character, so tags can be found before the encoding is known. */
function textBetweenTags(source: string): string {
  const tag = /<(?:!--|(script|style)\b|[a-z/!?])/gi;
  let text = "";
  let from = 0;
  for (let match = tag.exec(source); match !== null && text.length < TEXT_BYTES; match = tag.exec(source)) {
    text += `${withoutLongAscii(source.slice(from, match.index))} `;
    from = endOf(source, match.index, match[1] ?? match[0]);
    tag.lastIndex = from;
  }
  return (text + withoutLongAscii(source.slice(from))).slice(0, TEXT_BYTES);
}

/** Long runs of ASCII carry no evidence. */
function withoutLongAscii(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return "";
  return text.replace(/[\0-\x7f]{40,}/g, (plain) => `${plain.slice(0, 10)} ${plain.slice(-10)}`);
}

/** The position after a tag, comment or script; the end of the source when unclosed. */
function endOf(source: string, at: number, kind: string): number {
  const closing = kind === "<!--" ? /-->/g : kind.length > 2 ? new RegExp(`</${kind}`, "gi") : />/g;
  closing.lastIndex = at;
  return closing.test(source) ? closing.lastIndex : source.length;
}

function multiByteCharset(bytes: Buffer, noOtherMatches: boolean): string | null {
  for (const [charset, letters, share, lowShare] of MULTI_BYTE) {
    const text = new TextDecoder(charset).decode(bytes);
    const nonAscii = text.match(/[^\0-\x7f]/g)?.length ?? 0;
    const broken = text.match(/\ufffd/g)?.length ?? 0;
    // One is allowed: the text may be cut inside a character.
    if (broken > 1 + nonAscii / 100) continue;
    const found = text.match(letters)?.length ?? 0;
    if (found > nonAscii * (noOtherMatches ? lowShare : share) && (noOtherMatches || found > MIN_LETTERS))
      return charset;
  }
  return null;
}
