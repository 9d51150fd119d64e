// npm run check [-- --no-tests]: everything that must hold before a commit, cheapest first.
import { join } from "node:path";
import { ensureInstalled, node24, root, run, script } from "./bootstrap.mjs";
import { FRUGAL } from "./types.mjs";

/** The command that fixes a failure, if there is one. */
const HELP = {
  format: "npm run format writes it as it should be",
  "generated pages": "node scripts/docs.mjs makes them anew",
  "types of the API": "node scripts/api-types.mjs makes them anew",
};

await script(async (args) => {
  await ensureInstalled();
  const node = node24();
  const bin = (name) => join(root, "node_modules", name, "bin", name === "typescript" ? "tsc" : name);
  const steps = [
    ["types", [bin("typescript"), "--noEmit", ...FRUGAL.words]],
    ["types of the dashboard", [bin("typescript"), "--noEmit", "--project", join(root, "web"), ...FRUGAL.words]],
    ["lint", [bin("oxlint"), "--deny-warnings"]],
    ["format", [bin("oxfmt"), "--check"]],
    ["architecture", ["--test", "--test-reporter=dot", join(root, "test", "architecture.test.ts")]],
    ["generated pages", [join(root, "scripts", "docs.mjs"), "--check"]],
    ["types of the API", [join(root, "scripts", "api-types.mjs"), "--check"]],
  ];
  if (!args.includes("--no-tests")) steps.push(["tests", [join(root, "scripts", "test.mjs")]]);
  for (const [name, command] of steps) {
    process.stdout.write(`\n── ${name}\n`);
    const code = await run(node, command, { env: { ...process.env, ...FRUGAL.env } });
    if (code !== 0) throw new Error(`${name}: failed${HELP[name] === undefined ? "" : `; ${HELP[name]}`}`);
  }
  process.stdout.write(`\nall is well: ${steps.map(([name]) => name).join(", ")}\n`);
  return 0;
});
