/** A folder that looks like a fresh clone, in which what README and docs/ show is typed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { somePort } from "../support/services.ts";
import { builtBefore, read, root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";
import { examplesOf } from "./markdown.ts";
import { openSites } from "./sites.ts";

export interface Workspace extends AsyncDisposable {
  dir: string;
  /** The text with the hosts of the pages replaced by the servers here. */
  toHere(text: string): string;
  run(script: string): Promise<{ code: number | null; output: string }>;
}

export async function openWorkspace(): Promise<Workspace> {
  const folder = tempDir();
  const dir = folder.path;
  for (const name of ["package.json", "tsconfig.json"]) cpSync(join(root, name), join(dir, name));
  for (const name of ["bin", "dist", "src", "node_modules"]) symlinkSync(join(root, name), join(dir, name));
  const sites = await openSites();
  const ports = await PagePorts.choose();
  const toHere = (text: string) => ports.toHere(sites.toHere(text));
  return {
    dir,
    toHere,
    run: (script) =>
      new Promise((resolve, reject) => {
        const child = spawn("sh", ["-e", "-c", `exec 2>&1\n${toHere(script)}`], {
          cwd: dir,
          env: {
            PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
            ...builtBefore,
            HOME: dir,
            // A page has many commands, and each would compile all of the program again.
            NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "tests"),
            APP_ALLOW_PRIVATE_NETWORKS: "true",
            // A machine that is busy is no matter of the pages.
            APP_LOG_LEVEL: "error",
          },
          stdio: ["ignore", "pipe", "inherit"],
        });
        let output = "";
        child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
        child.on("error", reject);
        child.on("close", (code) =>
          resolve({ code, output: ports.toPage(sites.toPage(output.replaceAll(dir, "/srv/orb"))) }),
        );
      }),
    [Symbol.asyncDispose]: async () => {
      await sites[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** The ports at which pages start servers: free ones here, so that two runs of the tests do not meet. */
class PagePorts {
  static readonly #SHOWN = [8017, 8917, 8918];
  readonly #here: ReadonlyMap<number, number>;

  private constructor(here: ReadonlyMap<number, number>) {
    this.#here = here;
  }

  static async choose(): Promise<PagePorts> {
    const pairs = PagePorts.#SHOWN.map(async (shown) => [shown, await somePort()] as const);
    return new PagePorts(new Map(await Promise.all(pairs)));
  }

  toHere(text: string): string {
    return text.replace(/(--port |127\.0\.0\.1:)(\d+)/g, (all, before: string, port: string) => {
      const here = this.#here.get(Number(port));
      if (here === undefined && before === "--port " && port !== "0") throw new Error(`PagePorts lacks port ${port}`);
      return here === undefined ? all : `${before}${here}`;
    });
  }

  toPage(text: string): string {
    let page = text;
    for (const [shown, here] of this.#here) page = page.replaceAll(`127.0.0.1:${here}`, `127.0.0.1:${shown}`);
    return page;
  }
}

/** Types everything that a page shows, from top to bottom, and compares what it prints; each command is a test of its own. */
export async function typeWhatStandsIn(t: TestContext, page: string): Promise<void> {
  await using workspace = await openWorkspace();
  const examples = examplesOf(read(page));
  assert.ok(examples.length >= 2, "there are examples");
  for (const example of examples) {
    if (example.kind === "file") {
      writeFileSync(join(workspace.dir, example.name), workspace.toHere(example.text));
      continue;
    }
    await t.test(`${page}:${example.line}`, async () => {
      const { code, output } = await workspace.run(example.script);
      const story = `${example.script}${output}`;
      assert.equal(code, example.exit, story);
      if (example.output !== null) assert.equal(comparable(output), comparable(example.output), story);
    });
  }
}

/** A busy machine may need minutes for a whole page. */
export const WHOLE_PAGE = { timeout: 600_000 };

/** What differs from run to run is taken out, and columns may be as wide as their content. */
function comparable(text: string): string {
  return (
    text
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z( +)\d+/g, "<time> <ms>")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replace(/\b\d\d:\d\d:\d\d\b/g, "<clock>")
      // Tables of addresses are as long as the addresses of the servers here.
      .replace(/\b\d+ bytes, format/g, "<bytes>, format")
      .replace(/\b\d+(?:\.\d)? s\b|\b\d:\d\d\b/g, "<seconds>")
      .replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, "<id>")
      // How far a crawl is at a moment that nobody chooses.
      .replace(/^\d+ of \d+ known pages?,.*\n/gm, "")
      .replace(/\r$/gm, "")
      .replace(/sha256\/[0-9a-f]{2}\/[0-9a-f]{64}/g, "<file>")
      .replace(/ +/g, " ")
      .replace(/^ | $/gm, "")
      .trim()
  );
}
