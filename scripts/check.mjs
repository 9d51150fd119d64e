// npm run check [-- --no-tests]: everything that must hold before a commit, cheapest first.
import { join } from "node:path";
import { ensureInstalled, node24, root, run, script } from "./bootstrap.mjs";

await script(async (args) => {
  await ensureInstalled();
  const node = node24();
  const bin = (name) => join(root, "node_modules", name, "bin", name === "typescript" ? "tsc" : name);
  const steps = [
    ["types", [bin("typescript"), "--noEmit"]],
    ["lint", [bin("oxlint"), "--deny-warnings"]],
    ["format", [bin("oxfmt"), "--check"]],
    ["generated pages", [join(root, "scripts", "docs.mjs"), "--check"]],
  ];
  if (!args.includes("--no-tests")) steps.push(["tests", [join(root, "scripts", "test.mjs")]]);
  for (const [name, command] of steps) {
    const code = await run(node, command);
    if (code !== 0) throw new Error(`${name}: failed`);
  }
  return 0;
});
