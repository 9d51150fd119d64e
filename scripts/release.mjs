// npm run release [-- --dry-run | --check]: packs the version that CHANGELOG.md names first, tests the installed
// tarball, and prints the publish command. --check only checks whether it may be published, as npm does before
// publishing; --dry-run lists the obstacles and continues.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, node24, root, run, script } from "./bootstrap.mjs";

const HEADING = /^## (\d+\.\d+\.\d+\S*)(?: \((.*)\))?$/m;

/** Obstacles to publishing, a sentence each. */
export function obstacles({ changelog, version, lockVersion, changes }) {
  const [, newest, date] = HEADING.exec(changelog) ?? [];
  const found = [];
  if (newest === undefined) found.push("CHANGELOG.md has no heading of a version");
  else if (newest !== version) found.push(`package.json says ${version}, the newest heading of CHANGELOG.md ${newest}`);
  if (lockVersion !== version)
    found.push(`package-lock.json says ${lockVersion}, package.json ${version}: run npm install`);
  if (newest !== undefined && !/^\d{4}-\d\d-\d\d$/.test(date ?? ""))
    found.push(`the heading of ${newest} in CHANGELOG.md needs its date: ## ${newest} (YYYY-MM-DD)`);
  if (changes !== "") found.push(`there are changes that are not committed:\n${changes}`);
  return found;
}

function look() {
  const git = spawnSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" });
  if (git.status !== 0) throw new Error("this is not a clone that git knows");
  const json = (name) => JSON.parse(readFileSync(join(root, name), "utf8"));
  return {
    changelog: readFileSync(join(root, "CHANGELOG.md"), "utf8"),
    version: json("package.json").version,
    lockVersion: json("package-lock.json").version,
    changes: git.stdout.trimEnd(),
  };
}

async function must(name, command, words, options) {
  if ((await run(command, words, options)) !== 0) throw new Error(`${name}: failed`);
}

if (process.argv[1]?.endsWith("release.mjs"))
  await script(async (args) => {
    const seen = look();
    const found = obstacles(seen);
    for (const obstacle of found) process.stderr.write(`not yet: ${obstacle}\n`);
    if (found.length > 0 && !args.includes("--dry-run")) return 1;
    if (args.includes("--check")) return 0;
    await ensureInstalled();
    await must("audit", "npm", ["audit", "--omit=dev"]);
    await must("checks", node24(), [join(root, "scripts", "check.mjs"), "--no-tests"]);
    // Builds, packs, and installs the tarball from the network.
    const env = { ...process.env, CI: "true" };
    await must("the package", node24(), [join(root, "scripts", "test.mjs"), "test/package/"], { env });
    await must("pack", "npm", ["pack", ...(args.includes("--dry-run") ? ["--dry-run"] : [])]);
    process.stdout.write(
      `\n${seen.version} is ready. From a workflow that may sign for it (id-token: write):\n` +
        `  git tag v${seen.version} && git push --tags\n` +
        `  npm publish orbweaver-${seen.version}.tgz --provenance --access public\n`,
    );
    return found.length > 0 ? 1 : 0;
  });
