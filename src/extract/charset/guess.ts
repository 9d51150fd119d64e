/**
 * Which encoding bytes are in that nobody names: the one in which they make the words of a language. What stands in tags
 * and scripts is ASCII in any language and says nothing, so only the text between them is looked at.
 */
import { singleByteCharset } from "./single-byte.ts";

/** So much of a page is searched for text, and so much text is looked at. */
const PAGE_BYTES = 256 * 1024;
const TEXT_BYTES = 16 * 1024;

/** The commonest characters of Chinese, simplified and traditional: a third of any text, a thirtieth of any jumble. */
const HAN =
  /[的一是不了在人有我他这這中大来來上国國个個到说說们們为為子和你地出道也时時年得就那要下以生会會自着著去之过過家学學对對可她里裡后後小么麼心多天而能好都然没沒日于於起还還发發成事只作当當想看文无無开開手十用主行方又如前所本见見经經头頭面公同三已老从從动動两兩长長知民样樣现現分将將外但身些与與高意进進把法此实實回二理美点點月明其种種声聲全工己话話者向情部正名定女问問力机機给給等几幾很业業最间間新什打便位因重被走电電四第门門相次东東政海口使教西再平真听聽世气氣信北少关關并並内內加化由却代军軍产產入先山五太水万萬市眼体體别別处處总總才场場师師书書比住员員九笑性通目华華报報立马馬命张張活难難神数數件安表原车車白应應路期叫死常提感金何更反合放做系計计或司利受光王果亲親界及今京务務制解各任至清物台象记記边邊共风風战戰干幹接它许許八特觉覺望直服毛林题題建南度统統色字请請交爱愛让讓认認算论論百吃义義科怎元社术術结結六功指思非流每青管夫连連远遠资資队隊跟带帶花快条條院变變联聯权權往展该該领領传傳近留红紅治决決周保达達办辦运運武半候七必城父强強步完革深区區]/g;

/**
 * Letters that make up a good part of any text in the language, and how much of what is beyond ASCII they must be: the
 * second figure where no other encoding makes words of it.
 */
const MULTI_BYTE: readonly [charset: string, letters: RegExp, share: number, lowShare: number][] = [
  ["shift_jis", /[\u3040-\u30ff]/g, 0.3, 0.1],
  ["euc-jp", /[\u3040-\u30ff]/g, 0.3, 0.1],
  ["gb18030", HAN, 0.35, 0.15],
  ["big5", HAN, 0.35, 0.15],
  ["euc-kr", /[\uac00-\ud7a3]/g, 0.6, 0.6],
];
/** Any two bytes may be a common letter by chance. */
const MIN_LETTERS = 3;

/** The WHATWG name of the encoding; windows-1252 where nothing speaks for another one. */
export function guessCharset(page: Buffer): string {
  const text = textBetweenTags(page.toString("latin1", 0, PAGE_BYTES));
  const bytes = Buffer.from(text, "latin1");
  if (!hasWordsBeyondAscii(text)) return singleByteCharset(bytes, false) ?? "windows-1252";
  return (
    multiByteCharset(bytes, false) ?? singleByteCharset(bytes, true) ?? multiByteCharset(bytes, true) ?? "windows-1252"
  );
}

/** Words in Latin letters have one or two such letters in a row; in other scripts a word has nothing else. */
function hasWordsBeyondAscii(text: string): boolean {
  const inWords = text.match(/[\x80-\xff]{3,}/g)?.join("").length ?? 0;
  return inWords * 4 > (text.match(/[\x80-\xff]/g)?.length ?? 0);
}

/** No encoding of the web has `<` or `>` inside a character, so tags are found before the encoding is known. */
function textBetweenTags(source: string): string {
  const tag = /<(?:!--|(script|style)\b|[a-z/!?])/gi;
  let text = "";
  let from = 0;
  for (let match = tag.exec(source); match !== null && text.length < TEXT_BYTES; match = tag.exec(source)) {
    text += `${shortened(source.slice(from, match.index))} `;
    from = endOf(source, match.index, match[1] ?? match[0]);
    tag.lastIndex = from;
  }
  return (text + shortened(source.slice(from))).slice(0, TEXT_BYTES);
}

/** Long stretches of ASCII say nothing either. */
function shortened(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return "";
  return text.replace(/[\0-\x7f]{40,}/g, (plain) => `${plain.slice(0, 10)} ${plain.slice(-10)}`);
}

/** Behind a tag, a comment or a script; what is never closed goes to the end. */
function endOf(source: string, at: number, kind: string): number {
  const closing = kind === "<!--" ? /-->/g : kind.length > 2 ? new RegExp(`</${kind}`, "gi") : />/g;
  closing.lastIndex = at;
  return closing.test(source) ? closing.lastIndex : source.length;
}

function multiByteCharset(bytes: Buffer, alone: boolean): string | null {
  for (const [charset, letters, share, lowShare] of MULTI_BYTE) {
    const text = new TextDecoder(charset).decode(bytes);
    const beyond = text.match(/[^\0-\x7f]/g)?.length ?? 0;
    const broken = text.match(/\ufffd/g)?.length ?? 0;
    // One is allowed: the text may be cut in the middle of a character.
    if (broken > 1 + beyond / 100) continue;
    const found = text.match(letters)?.length ?? 0;
    if (found > beyond * (alone ? lowShare : share) && (alone || found > MIN_LETTERS)) return charset;
  }
  return null;
}
