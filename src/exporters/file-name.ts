/** Names of exported files: safe on every file system and in a Content-Disposition header, and deterministic. */
import { formatNamed } from "./registry.ts";

const MAX_WORDS_LENGTH = 60;

/** `shoes-of-the-week-run_01j9.csv`; a run without a name is `run-ID.csv`. */
export function exportFileName(run: { id: string; name?: string | null }, format: string): string {
  const words = plain(run.name ?? "", MAX_WORDS_LENGTH).toLowerCase();
  const id = plain(run.id, MAX_WORDS_LENGTH);
  return `${words === "" ? "run" : words}-${id === "" ? "export" : id}.${formatNamed(format).extension}`;
}

/** Letters without their accents, digits, `_` and single dashes; everything else separates words. */
function plain(text: string, maxLength: number): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9_]+/g, "-")
    .slice(0, maxLength)
    .replace(/^-|-$/g, "");
}
