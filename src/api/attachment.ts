/** `Content-Disposition` of downloads (RFC 6266); safe for any file name. */

const LONGEST = 150;

/**
 * `ascii; filename*` for names beyond ASCII. Strips control characters, slashes and leading dots, which are unsafe in
 * file names.
 */
export function attachment(fileName: string): string {
  const name = fileName
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]+/gu, "_")
    .replace(/^[.\s]+/, "");
  const short = shortened(name) || "file";
  const ascii = short
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    // NFKD has turned full-width quotes and slashes into plain ones.
    .replace(/[^ -~]|[%"\\/:*?<>|]/g, "_");
  const plain = `attachment; filename="${ascii}"`;
  return ascii === short ? plain : `${plain}; filename*=UTF-8''${encoded(short)}`;
}

/** Keeps the extension. */
function shortened(name: string): string {
  const letters = [...name];
  if (letters.length <= LONGEST) return name;
  const ending = /\.[^.\s]{1,10}$/.exec(name)?.[0] ?? "";
  return letters.slice(0, LONGEST - ending.length).join("") + ending;
}

/** RFC 8187: `encodeURIComponent`, plus four characters that it leaves. */
function encoded(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
