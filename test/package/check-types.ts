import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FRUGAL } from "../../scripts/types.mjs";
import { root } from "../support/source.ts";

/** The settings of careful users, who do not write `.ts` in their imports; both ways of finding modules. */
const STRICT = {
  target: "es2024",
  lib: ["es2024", "esnext.disposable"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noEmit: true,
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")],
};
const MODULES = [
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];

/** Fails with what TypeScript says of these files of a user's project. */
export function checkTypes(dir: string, files: readonly string[]): void {
  for (const modules of MODULES) {
    writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...STRICT, ...modules }, files }));
    const words = [join(root, "node_modules/typescript/bin/tsc"), "--project", dir, ...FRUGAL.words];
    try {
      execFileSync(process.execPath, words, { cwd: dir, encoding: "utf8", env: { ...process.env, ...FRUGAL.env } });
    } catch (error) {
      assert.fail(`${modules.moduleResolution}: ${(error as { stdout: string }).stdout}`);
    }
  }
}

/** Uses everything that the package exports, and two mistakes that have to be found. */
export const PROGRAM = `import { defineWorkflow, type JobInput, loadConfig, Orchestrator } from "orbweaver";
import { createClient, type Run } from "orbweaver/client";
import { defineHandlers } from "orbweaver/handlers";
export const run = (id: string): Promise<Run> => createClient({ url: "http://127.0.0.1:8000" }).runs.get(id);
// @ts-expect-error: the API has no such field
export const nothing = (of: Run) => of.colour;
export const job: JobInput = { name: "a", target_url: "https://example.com/", fields: { title: "h1" } };
export const handlers = defineHandlers({ a: async (item, context) => (await context.fetch(item.url)).status });
export async function total(): Promise<number> {
  await using orb = await Orchestrator.start(loadConfig({ env: {}, cwd: "." }).config);
  return (await orb.queue.stats()).total;
}
// @ts-expect-error: an address is a text
export const wrong = (orb: Orchestrator) => orb.scrape(5);
export { defineWorkflow };
`;
