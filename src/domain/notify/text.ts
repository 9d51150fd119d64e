/**
 * Foreign text in messages. Names of sites, URLs and errors come from pages of strangers: they must not become mentions,
 * links or markup at the receiver.
 */

/** Controls, bidirectional overrides and invisible characters. */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Text in several lines, at most `most` characters. */
export function plain(text: string, most = 1000): string {
  const clean = text.toWellFormed().replace(/\r\n?/g, "\n").replace(UNSEEN, "");
  return clean.length <= most
    ? clean
    : `${clean
        .slice(0, most - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`;
}

/** Text in one line: for titles and headers. */
export const oneLine = (text: string, most = 200) => plain(text.replace(/\s+/g, " ").trim(), most);

const BREAK = "\u200b";

/**
 * For receivers that make links and mentions of plain text: an invisible character after what they look for. Reads as
 * before.
 */
export function defused(text: string): string {
  return text
    .replace(/:\/\//g, `:${BREAK}//`)
    .replace(/@/g, `@${BREAK}`)
    .replace(/(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}])/gu, `.${BREAK}`)
    .replace(/(^|[^\p{L}\p{N}])([/#$])(?=[\p{L}\p{N}_])/gu, `$1$2${BREAK}`)
    .replace(/\b(mailto|tel|tg|www)(?=[:.])/gi, `$1${BREAK}`);
}

/**
 * For receivers that are not known, such as those behind Apprise: neither HTML nor Markdown nor the markup of chats, in
 * any of which the text may be read.
 */
export function forAny(text: string): string {
  return defused(text)
    .replace(/[<[\]`*_~|&\\]/g, `$&${BREAK}`)
    .replace(/^[ \t]*(?=[#>+=-]|\d+[.)])/gm, `$&${BREAK}`);
}

/** Slack: the three characters that start mentions, links and entities. */
export const forSlack = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Discord: its Markdown; mentions are off by `allowed_mentions` besides. */
export const forDiscord = (text: string) =>
  defused(text).replace(/[\\*_~`|>#()[\]<\-+:]/g, (char) => (char === ":" ? char : `\\${char}`));

/** Telegram: its HTML. */
export const forTelegram = (text: string) => forSlack(defused(text)).replaceAll('"', "&quot;");
