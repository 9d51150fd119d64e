/** Files and streams that commands read and write, with errors that name them. */
import { constants, createReadStream, createWriteStream, type Stats } from "node:fs";
import { access, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { messageOf, OrbError, systemCode } from "../base/errors.ts";
import { visibleBytes } from "../base/visible-text.ts";
import { flushFolder } from "../base/files/whole-file.ts";
import { pagesIn } from "../exporters/markdown-pages.ts";

export async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* path === "-" ? process.stdin : createReadStream(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined || !["ENOENT", "EACCES", "EISDIR"].includes(code)) throw error;
    const why = { ENOENT: "there is no such file", EACCES: "permission denied", EISDIR: "it is a folder" }[code];
    throw new OrbError("input_invalid", `cannot read ${path}: ${why}`, { cause: error });
  }
}

const UNWRITABLE: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  EACCES: "permission denied",
  EISDIR: "it is a folder",
  EROFS: "the file system is read-only",
  ENOTDIR: "its folder does not exist",
  ENOSPC: "the disk is full",
};

function unwritable(path: string, error: unknown, hint?: string): OrbError | null {
  const code = systemCode(error) ?? "";
  const why = UNWRITABLE[code];
  if (why === undefined) return null;
  return new OrbError(code === "ENOSPC" ? "disk_full" : "input_invalid", `cannot write ${path}: ${why}`, {
    cause: error,
    fields: [{ path: "out", message: why }],
    ...(hint === undefined ? {} : { hint }),
  });
}

const FILE_PER_PAGE = "markdown";

/**
 * Throws if a file cannot be written, before the work starts: hours of work must not end with a wrong name. `format`:
 * of records, for which some formats write a folder.
 */
export async function refuseUnwritable(path: string, format?: string): Promise<void> {
  const hint = format === undefined ? undefined : `Name a file, or use --format ${FILE_PER_PAGE} for a file per page.`;
  try {
    if (format !== FILE_PER_PAGE && (await isFolder(path))) throw Object.assign(new Error(path), { code: "EISDIR" });
    const isThere = (await statOrNull(path)) !== null;
    await access(isThere ? path : dirname(resolve(path)), constants.W_OK);
  } catch (error) {
    throw unwritable(path, error, systemCode(error) === "EISDIR" ? hint : undefined) ?? error;
  }
}

/** It is a folder, or is meant to become one. */
async function isFolder(path: string): Promise<boolean> {
  return path.endsWith("/") || path.endsWith(sep) || (await statOrNull(path))?.isDirectory() === true;
}

async function statOrNull(path: string): Promise<Stats | null> {
  return stat(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  });
}

/**
 * Writes to standard output, or to a file that keeps its old content until the new one is complete; `format` as above.
 * Formats that write a folder get one.
 */
export async function writeAll(path: string | null, chunks: AsyncIterable<Uint8Array>, format?: string): Promise<void> {
  try {
    if (path !== null && format === FILE_PER_PAGE && (await isFolder(path))) return await writePages(path, chunks);
    // Page content must not send control sequences to the terminal; files and programs get the raw bytes.
    const isScreen = path === null && process.stdout.isTTY === true;
    const source = Readable.from(isScreen ? visibleBytes(chunks) : chunks, { objectMode: false });
    if (path === null) await pipeline(source, process.stdout, { end: false });
    else await writeWhole(path, source);
  } catch (error) {
    const code = systemCode(error) ?? "";
    // The consumer closed the pipe (`| head`).
    if (path === null && (code === "EPIPE" || code === "ERR_STREAM_PREMATURE_CLOSE")) return;
    throw (path === null ? null : unwritable(path, error)) ?? error;
  }
}

/** A table cut off by a kill looks like a short one, so the file gets its name when it is complete. */
async function writeWhole(path: string, source: Readable): Promise<void> {
  const existing = await statOrNull(path);
  const target = existing === null ? path : await realpath(path);
  const folder = dirname(target);
  const isReplaceable = (existing === null || existing.isFile()) && (await isWritable(folder));
  // Pipes, devices, and files in folders without write permission are written directly.
  if (!isReplaceable) return pipeline(source, createWriteStream(path));
  const draft = `${target}.${process.pid}.part`;
  try {
    await pipeline(source, createWriteStream(draft, { flags: "wx", flush: true, mode: existing?.mode ?? 0o666 }));
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  flushFolder(folder);
}

/** One file per page, each written atomically. Existing files stay, unless a page has the same name. */
async function writePages(folder: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for await (const { fileName, text } of pagesIn(chunks)) {
    const target = join(folder, fileName);
    const draft = `${target}.${process.pid}.part`;
    try {
      await writeFile(draft, text, { flush: true });
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }
  flushFolder(folder);
}

async function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** A JSON file, or `-` for standard input. `option` is the option that named it. */
export async function readJsonFile(
  open: (path: string) => AsyncIterable<Uint8Array>,
  path: string,
  option: string,
): Promise<Record<string, unknown>> {
  const text = await readText(open, path, option);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw bad(option, `${path} is not JSON: ${messageOf(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw bad(option, "expected a JSON object");
  return value as Record<string, unknown>;
}

export async function readText(
  open: (path: string) => AsyncIterable<Uint8Array>,
  path: string,
  option: string,
  longest = LONGEST,
): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of open(path)) {
    size += part.byteLength;
    if (size > longest) throw bad(option, `${path} is larger than ${longest / 1024 / 1024} MiB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

const LONGEST = 16 * 1024 * 1024;

function bad(option: string, message: string): OrbError {
  return new OrbError("input_invalid", `${option}: ${message}`, {
    fields: [{ path: option.replace(/^--/, ""), message }],
  });
}
