/** Start URLs of commands: as arguments, or as lines of a file or of standard input. */
import { type FieldError, OrbError } from "../../base/errors.ts";
import { MOST_STARTS } from "../../domain/crawl/crawl-limits.ts";
import type { Wiring } from "../wiring.ts";

/** `-` among the URLs is standard input; `file` is the value of `--from`. */
export async function readUrls(
  wiring: Pick<Wiring, "openFile">,
  args: readonly string[],
  file: string | undefined,
): Promise<string[]> {
  const urls: string[] = [];
  for (const url of args) {
    if (url === "-") urls.push(...(await linesOf(wiring, "-")));
    else urls.push(url);
  }
  if (file !== undefined) urls.push(...(await linesOf(wiring, file)));
  if (urls.length > MOST_STARTS)
    throw new OrbError(
      "input_invalid",
      `${urls.length} start URLs are too many: a crawl accepts up to ${MOST_STARTS}`,
      {
        hint: "Split the list, or use the queue: `orb queue import` has no limit.",
      },
    );
  return urls;
}

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_PROBLEMS = 3;

/** One URL per line; skips empty lines and those that start with #. */
async function linesOf({ openFile }: Pick<Wiring, "openFile">, path: string): Promise<string[]> {
  const name = path === "-" ? "standard input" : path;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of openFile(path)) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new OrbError("input_invalid", `${name} has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  const lines = Buffer.concat(chunks)
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/);
  const problems: FieldError[] = [];
  const urls: string[] = [];
  for (const [index, line] of lines.entries()) {
    const text = line.trim();
    if (text === "" || text.startsWith("#")) continue;
    if (/^https?:/i.test(text) && URL.canParse(text)) urls.push(text);
    else
      problems.push({
        path: `line ${index + 1}`,
        message: `expected an http or https URL, found ${JSON.stringify(text.slice(0, 80))}`,
      });
  }
  if (problems.length > 0) {
    const shown = problems.slice(0, MOST_PROBLEMS).map(({ path: at, message }) => `${at}: ${message}`);
    const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : [];
    throw new OrbError("input_invalid", `${name} has lines that are not URLs: ${[...shown, ...more].join("; ")}`);
  }
  if (urls.length === 0) throw new OrbError("input_invalid", `${name} has no URLs`);
  return urls;
}
