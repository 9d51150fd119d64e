/** Files of this machine as the argument of `orb scrape`. */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { OrbError } from "../../base/errors.ts";
import type { Wiring } from "../wiring.ts";

interface FileOptions {
  url?: string;
  save?: boolean;
  screenshot?: string;
  session?: string;
  strategy?: string;
}

export interface ScrapedFile {
  bytes: Uint8Array;
  name: string;
  contentType: null;
}

/** The file that the argument names; null: it is a URL. */
export async function fileOf(
  wiring: Pick<Wiring, "openFile">,
  argument: string,
  options: FileOptions,
): Promise<ScrapedFile | null> {
  if (/^[a-z][a-z0-9+.-]+:/i.test(argument)) return null;
  const isFile = statSync(argument, { throwIfNoEntry: false })?.isFile() === true;
  if (!isFile && !/^\.{0,2}\//.test(argument)) return null;
  if (!isFile)
    throw new OrbError("input_invalid", `there is no file ${argument}`, {
      hint: "Check the path; a URL starts with https://.",
    });
  refuseServer(options);
  const chunks: Uint8Array[] = [];
  for await (const chunk of wiring.openFile(argument)) chunks.push(chunk);
  return { bytes: Buffer.concat(chunks), name: basename(argument), contentType: null };
}

/** What needs a site, or a server that does not have the file. */
function refuseServer({ url, save, screenshot, session, strategy }: FileOptions): void {
  const wrong = [
    ["--url", url !== undefined],
    ["--save", save === true],
    ["--screenshot", screenshot !== undefined],
    ["--session", session !== undefined],
    ["--strategy browser", strategy === "browser"],
  ].find(([, isSet]) => isSet);
  if (wrong === undefined) return;
  throw new OrbError("usage", `${String(wrong[0])} cannot be used with a file`, {
    hint: "Remove the option, or scrape a URL.",
  });
}
