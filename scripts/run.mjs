// node scripts/run.mjs FILE.ts […]: runs a TypeScript file on a Node that supports it.
import { ensureInstalled, node24, run, script } from "./bootstrap.mjs";

await script(async (args) => {
  if (args.length === 0) throw new Error("usage: node scripts/run.mjs FILE.ts [ARGUMENT …]");
  await ensureInstalled();
  return run(node24(), args, { cwd: process.cwd() });
});
