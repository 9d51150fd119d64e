/** The code pages of RTF: of the document, and of each of its fonts. */

/** Code pages by `\fcharset`; 0 and 1 are those of the document. */
const CHARSETS: ReadonlyMap<number, number> = new Map([
  [77, 10_000],
  [128, 932],
  [129, 949],
  [134, 936],
  [136, 950],
  [161, 1253],
  [162, 1254],
  [163, 1258],
  [177, 1255],
  [178, 1256],
  [186, 1257],
  [204, 1251],
  [222, 874],
  [238, 1250],
  [254, 437],
  [255, 850],
]);

/** Code pages that decoders know under another name. */
const NAMES: Readonly<Record<number, string>> = {
  866: "ibm866",
  932: "shift_jis",
  936: "gbk",
  949: "euc-kr",
  950: "big5",
  10_000: "macintosh",
  10_007: "x-mac-cyrillic",
  65_001: "utf-8",
};

/** The upper halves of code pages of MS-DOS, which no decoder knows. */
const UPPER_HALVES: Readonly<Record<number, string>> = {
  437: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0",
  850: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0",
};

export interface CodePage {
  /** Characters may have several bytes, and some of these may be letters. */
  isWide: boolean;
  /** A character whose last bytes are missing waits for them, unless there are no bytes. */
  decode(bytes: Uint8Array): string;
}

/** An unknown code page is read as Western European. */
function openCodePage(number: number): CodePage {
  const upper = UPPER_HALVES[number];
  if (upper !== undefined)
    return {
      isWide: false,
      decode: (bytes) =>
        Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : upper[byte - 0x80]!)).join(""),
    };
  const decoder = decoderOf(number);
  return {
    isWide: /^(?:shift_jis|gbk|euc-kr|big5|utf-8)$/.test(decoder.encoding),
    decode: (bytes) => decoder.decode(bytes, { stream: bytes.length > 0 }),
  };
}

function decoderOf(number: number) {
  try {
    return new TextDecoder(NAMES[number] ?? `windows-${number}`);
  } catch {
    return new TextDecoder("windows-1252");
  }
}

/** The fonts of a document by their numbers. */
export class RtfFonts {
  readonly #codePages = new Map<number, number>();
  readonly #open = new Map<number, CodePage>();
  /** Of the font that is being described. */
  #font = 0;
  #codePage = 1252;
  #defaultFont = 0;

  /** Words of the header, and of the table of fonts if `inTable`. */
  control(word: string, value: number | null, inTable: boolean): void {
    if (word === "ansicpg") this.#codePage = value ?? 1252;
    else if (word === "mac") this.#codePage = 10_000;
    else if (word === "pc") this.#codePage = 437;
    else if (word === "pca") this.#codePage = 850;
    else if (word === "deff") this.#defaultFont = value ?? 0;
    else if (inTable) this.#describe(word, value ?? 0);
  }

  #describe(word: string, value: number): void {
    if (word === "f") this.#font = value;
    const codePage = word === "fcharset" ? CHARSETS.get(value) : word === "cpg" && value > 0 ? value : undefined;
    if (codePage !== undefined) this.#codePages.set(this.#font, codePage);
  }

  /** `font`: null: the default one. */
  codePage(font: number | null): CodePage {
    const number = this.#codePages.get(font ?? this.#defaultFont) ?? this.#codePage;
    let page = this.#open.get(number);
    if (page === undefined) this.#open.set(number, (page = openCodePage(number)));
    return page;
  }
}
