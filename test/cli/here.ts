import { resolve } from "node:path";
import { Readable } from "node:stream";
import { readFile, refuseUnwritable, writeAll } from "../../src/cli/files.ts";
import { runCli } from "../../src/cli/program.ts";
import { createPrompt } from "../../src/cli/prompt.ts";
import type { Wiring } from "../../src/cli/wiring.ts";
import { wiringOf } from "../../src/main.ts";
import { OF_THE_MACHINE } from "../chaos/orb.ts";
import { sharedPageReader } from "../support/shared-page-reader.ts";

export interface Said {
  code: number;
  signal: null;
  stdout: string;
  stderr: string;
}

/** Where a command is typed, and what is in its environment. */
export interface Seat {
  dir: string;
  env: Record<string, string>;
}

/** `said` is told all that comes to standard error, `printed` what comes to standard output; both may press Ctrl-C. */
export interface Typing {
  input?: string;
  said?: (stderr: string, interrupt: () => void) => void;
  printed?: (stdout: string, interrupt: () => void) => void;
}

/** One command of `orb` in this process: the real one, without the start of a process, which takes longer than most. */
export async function runHere(seat: Seat, args: readonly string[], typing: Typing = {}): Promise<Said> {
  const { input = "", said, printed } = typing;
  const out = { stdout: "", stderr: "" };
  let onSignal: ((signal: "SIGINT") => void) | null = null;
  const interrupt = () => onSignal?.("SIGINT");
  const terminal: Wiring["terminal"] = {
    out: (text) => {
      out.stdout += text;
      printed?.(out.stdout, interrupt);
    },
    err: (text) => {
      out.stderr += text.replaceAll(OF_THE_MACHINE, "");
      said?.(out.stderr, interrupt);
    },
    live: false,
    colour: false,
  };
  // Files are named as seen from the seat; whoever is told of one is told the name that was typed.
  // A slash at the end says that it is a folder.
  const at = (path: string) => resolve(seat.dir, path) + (path.endsWith("/") ? "/" : "");
  const asTyped = (path: string) => (error: unknown) => {
    if (error instanceof Error) error.message = error.message.replaceAll(at(path), path);
    throw error;
  };
  const wiring: Wiring = {
    ...wiringOf({ terminal, env: seat.env, cwd: () => seat.dir, reader: sharedPageReader() }),
    openFile: async function* (path) {
      if (path === "-") yield Buffer.from(input);
      else {
        try {
          yield* readFile(at(path));
        } catch (error) {
          asTyped(path)(error);
        }
      }
    },
    refuseUnwritable: (path, format) => refuseUnwritable(at(path), format).catch(asTyped(path)),
    write: async (path, chunks, format) => {
      if (path !== null) return writeAll(at(path), chunks, format).catch(asTyped(path));
      for await (const chunk of chunks) out.stdout += Buffer.from(chunk).toString("utf8");
      return undefined;
    },
    prompt: createPrompt(
      Readable.from([Buffer.from(input)], { objectMode: false }) as NodeJS.ReadStream,
      process.stderr,
    ),
    onSignals: (handler) => {
      onSignal = handler;
      return () => (onSignal = null);
    },
    onHangUp: () => () => {},
    exit: (code) => {
      throw new Error(`a command in this process wants to leave it with ${code}`);
    },
  };
  // As a process would, it lets this one go on: who asks again and again must not keep a site from answering.
  await new Promise((resume) => void setImmediate(resume));
  const code = await runCli([...args], wiring, "1.2.3");
  return { code, signal: null, ...out };
}
