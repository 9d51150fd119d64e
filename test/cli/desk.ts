import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { readFile, refuseUnwritable, writeAll } from "../../src/cli/files.ts";
import { runCli } from "../../src/cli/program.ts";
import type { Wiring } from "../../src/cli/wiring.ts";
import { loadConfig } from "../../src/config/load.ts";
import { openLocalApi } from "../../src/local-api.ts";
import { tempDir } from "../support/temp-dir.ts";

export interface Said {
  code: number;
  stdout: string;
  stderr: string;
}

/** An installation in a folder of its own whose commands run in this process: the real ones, without the start of one. */
export class Desk implements Disposable {
  readonly #folder = tempDir();
  readonly env: Record<string, string>;

  constructor(env: Record<string, string> = {}) {
    this.env = {
      APP_ALLOW_PRIVATE_NETWORKS: "true",
      APP_RETRY_BASE_SECONDS: "0.05",
      APP_RETRY_MAX_SECONDS: "0.2",
      APP_DATABASE_URL: `sqlite:${join(this.#folder.path, "orb.db")}`,
      APP_DATA_DIR: join(this.#folder.path, "data"),
      ...env,
    };
  }

  get dir(): string {
    return this.#folder.path;
  }

  file(name: string, content: string): string {
    const path = join(this.dir, name);
    writeFileSync(path, content);
    return path;
  }

  /** `said` is told all that comes to standard error, `printed` what comes to standard output; both may press Ctrl-C. */
  async run(args: readonly string[], { input = "", said, printed }: Options = {}): Promise<Said> {
    const out = { stdout: "", stderr: "" };
    let onSignal: ((signal: "SIGINT") => void) | null = null;
    const wiring: Partial<Wiring> = {
      terminal: {
        out: (text: string) => {
          out.stdout += text;
          printed?.(out.stdout, () => onSignal?.("SIGINT"));
        },
        err: (text: string) => {
          out.stderr += text;
          said?.(out.stderr, () => onSignal?.("SIGINT"));
        },
        live: false,
        colour: false,
      },
      loadConfig: () => loadConfig({ env: this.env, cwd: this.dir }),
      openApi: (config, log) => openLocalApi(config, log, "1.2.3"),
      openFile: (path) => (path === "-" ? typed(input) : readFile(path)),
      refuseUnwritable,
      write: async (path, chunks) => {
        if (path !== null) return writeAll(path, chunks);
        for await (const chunk of chunks) out.stdout += Buffer.from(chunk).toString("utf8");
        return undefined;
      },
      now: () => systemClock.now(),
      onSignals: (handler) => {
        onSignal = handler;
        return () => (onSignal = null);
      },
      onHangUp: () => () => {},
    };
    const code = await runCli([...args], wiring as Wiring, "1.2.3");
    return { code, ...out };
  }

  async json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, "--json"]);
    if (code !== 0) throw new Error(`orb ${args.join(" ")}: ${code} ${stderr}${stdout}`);
    return JSON.parse(stdout) as T;
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

interface Options {
  input?: string;
  said?: (stderr: string, interrupt: () => void) => void;
  printed?: (stdout: string, interrupt: () => void) => void;
}

async function* typed(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
