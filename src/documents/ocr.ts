/** Optical character recognition by the user's own program or server; nothing is downloaded for it. */
import { spawn } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import { DocumentError } from "./document.ts";

export interface Ocr {
  /** The variable that configures it. */
  readonly setting: string;
  /** A PDF with text, or text with a form feed between pages. Throws a DocumentError, or the abort reason. */
  recognise(bytes: Uint8Array, signal: AbortSignal): Promise<Buffer>;
  close(): Promise<void>;
}

interface OcrCommandOptions {
  /** The program and its arguments. It gets the document on its standard input. */
  command: readonly string[];
  timeoutMs: number;
  env: Readonly<Record<string, string>>;
  clock: Clock;
}

export const MAX_OCR_OUTPUT = 200 * 1024 * 1024;
const MAX_MESSAGE = 300;

export function ocrFailure(why: string): DocumentError {
  return new DocumentError("needs_ocr", `the pages are pictures, and ${why}`);
}

export function ocrCommand(options: OcrCommandOptions): Ocr {
  return {
    setting: "APP_OCR_COMMAND",
    recognise: (bytes, signal) => recognise(bytes, options, signal),
    // A program ends with its document.
    close: async () => {},
  };
}

async function recognise(bytes: Uint8Array, options: OcrCommandOptions, signal: AbortSignal): Promise<Buffer> {
  const [program = "", ...args] = options.command;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    // A group of its own: such programs start others, which must end with them.
    const child = spawn(program, args, { env: options.env, stdio: ["pipe", "pipe", "pipe"], detached: true });
    const output: Buffer[] = [];
    let length = 0;
    let said = "";
    const fail = (why: string) => end(() => reject(ocrFailure(why)));
    const timer = options.clock.after(options.timeoutMs, () =>
      fail(`APP_OCR_COMMAND took longer than ${Math.round(options.timeoutMs / 1000)} seconds`),
    );
    const onAbort = () => end(() => reject(signal.reason as Error));
    const end = (settle: () => void) => {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
      killGroup(child.pid);
      settle();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      output.push(chunk);
      length += chunk.length;
      if (length > MAX_OCR_OUTPUT) fail("APP_OCR_COMMAND wrote too much");
    });
    child.stderr.on("data", (chunk: Buffer) => (said = (said + chunk.toString("utf8")).slice(-MAX_MESSAGE)));
    child.on("error", (error) => fail(`APP_OCR_COMMAND cannot be started: ${error.message}`));
    child.on("close", (code) => {
      if (code === 0) end(() => resolve(Buffer.concat(output)));
      else fail(`APP_OCR_COMMAND failed with exit code ${code}: ${said.trim()}`);
    });
    // A program that reads only a part of its input closes it early.
    child.stdin.on("error", () => {});
    child.stdin.end(bytes);
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}

/** Words of a command line; quotes keep spaces together. */
export function commandWords(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, word]) => double ?? single ?? word ?? "",
  );
}
