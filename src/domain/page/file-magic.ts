/** Detects content types by magic bytes: names and headers are wrong more often. */

/** Bytes from the start of a file that suffice for every rule here. */
export const MAGIC_BYTES = 512;

interface Magic {
  type: string;
  at?: number;
  /** Hexadecimal; `..` is any byte. */
  bytes: string;
}

const MAGICS: readonly Magic[] = [
  { type: "image/jpeg", bytes: "ffd8ff" },
  { type: "image/png", bytes: "89504e470d0a1a0a" },
  { type: "image/gif", bytes: "474946383761" },
  { type: "image/gif", bytes: "474946383961" },
  { type: "image/webp", bytes: "52494646........57454250" },
  { type: "image/tiff", bytes: "49492a00" },
  { type: "image/tiff", bytes: "4d4d002a" },
  { type: "image/bmp", bytes: "424d............00000000" },
  { type: "image/x-icon", bytes: "00000100" },
  { type: "image/vnd.adobe.photoshop", bytes: "38425053" },
  { type: "image/jxl", bytes: "ff0a" },
  { type: "image/jxl", bytes: "0000000c4a584c200d0a870a" },
  { type: "image/jp2", bytes: "0000000c6a5020200d0a870a" },
  { type: "application/pdf", bytes: "255044462d" },
  { type: "application/zip", bytes: "504b0304" },
  { type: "application/zip", bytes: "504b0506" },
  { type: "application/gzip", bytes: "1f8b08" },
  { type: "application/x-bzip2", bytes: "425a68" },
  { type: "application/x-xz", bytes: "fd377a585a00" },
  { type: "application/zstd", bytes: "28b52ffd" },
  { type: "application/x-7z-compressed", bytes: "377abcaf271c" },
  { type: "application/vnd.rar", bytes: "526172211a07" },
  { type: "application/x-tar", at: 257, bytes: "7573746172" },
  { type: "application/vnd.sqlite3", bytes: "53514c69746520666f726d61742033" },
  { type: "application/vnd.apache.parquet", bytes: "50415231" },
  { type: "application/wasm", bytes: "0061736d" },
  { type: "audio/mpeg", bytes: "494433" },
  { type: "audio/flac", bytes: "664c6143" },
  { type: "audio/ogg", bytes: "4f676753" },
  { type: "audio/wav", bytes: "52494646........57415645" },
  { type: "video/webm", bytes: "1a45dfa3" },
  { type: "video/x-msvideo", bytes: "52494646........41564920" },
  { type: "font/woff", bytes: "774f4646" },
  { type: "font/woff2", bytes: "774f4632" },
];

/** Major brands of ISO base media files. */
const BRANDS: readonly (readonly [RegExp, string])[] = [
  [/^avi[fs]$/, "image/avif"],
  [/^(heic|heix|heim|heis|hevc|hevx|mif1|msf1)$/, "image/heic"],
  [/^qt/, "video/quicktime"],
  [/^M4A/, "audio/mp4"],
];

const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^<\?xml[^>]*>(\s|<!--[\s\S]*?-->|<!DOCTYPE svg[^>]*>)*<svg[\s>]/i, "image/svg+xml"],
  [/^(\s|<!--[\s\S]*?-->|<!DOCTYPE svg[^>]*>)*<svg[\s>]/i, "image/svg+xml"],
  [/^\s*<(!doctype html|html|head|body|script|title)[\s>]/i, "text/html"],
  [/^\s*<\?xml[\s?]/i, "application/xml"],
];

/** The content type; null: unknown, as for plain text. */
export function contentTypeOf(start: Uint8Array): string | null {
  const head = Buffer.from(start.buffer, start.byteOffset, Math.min(start.byteLength, MAGIC_BYTES));
  const hex = head.toString("hex");
  const magic = MAGICS.find(({ at = 0, bytes }) => matches(hex, at * 2, bytes));
  if (magic !== undefined) return magic.type;
  if (head.toString("latin1", 4, 8) === "ftyp") {
    const brand = head.toString("latin1", 8, 12);
    return BRANDS.find(([pattern]) => pattern.test(brand))?.[1] ?? "video/mp4";
  }
  const text = head.toString("utf8").replace(/^\uFEFF/, "");
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

function matches(hex: string, at: number, bytes: string): boolean {
  if (hex.length < at + bytes.length) return false;
  for (let i = 0; i < bytes.length; i += 1) if (bytes[i] !== "." && bytes[i] !== hex[at + i]) return false;
  return true;
}

/** Extensions by type; other types are not checked. */
const ENDINGS: Readonly<Record<string, readonly string[]>> = {
  "image/jpeg": ["jpg", "jpeg", "jpe", "jfif"],
  "image/png": ["png", "apng"],
  "image/gif": ["gif"],
  "image/webp": ["webp"],
  "image/avif": ["avif", "avifs"],
  "image/tiff": ["tif", "tiff"],
  "image/bmp": ["bmp", "dib"],
  "image/svg+xml": ["svg"],
  "image/heic": ["heic", "heif", "hif"],
  "application/pdf": ["pdf"],
  "application/gzip": ["gz", "tgz"],
  "text/html": ["html", "htm", "xhtml"],
  "video/mp4": ["mp4", "m4v"],
  "audio/mpeg": ["mp3"],
};
const KNOWN_ENDINGS: ReadonlySet<string> = new Set(Object.values(ENDINGS).flat());

/** Whether an extension (`jpg`) contradicts the content. An unknown extension does not. */
export function endingLies(ending: string | null, contentType: string | null): boolean {
  if (ending === null || contentType === null || !KNOWN_ENDINGS.has(ending)) return false;
  return ENDINGS[contentType]?.includes(ending) !== true;
}

/** The usual extension of a type; null: unknown. */
export function usualEnding(contentType: string): string | null {
  return ENDINGS[contentType]?.[0] ?? null;
}
