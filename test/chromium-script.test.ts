import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "./support/source.ts";
import { tempDir } from "./support/temp-dir.ts";

interface Script {
  findChromium(env: Record<string, string>): string | null;
  ensureChromium(env: Record<string, string>): Promise<string | null>;
}
const { findChromium, ensureChromium } = (await import(join(root, "scripts/chromium.mjs"))) as Script;

/** Something that can be run, with this name. */
function program(folder: string, name: string): string {
  const path = join(folder, name);
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
}

test("a browser for the tests is found where the operator, Playwright or the system put it, in this order", () => {
  using dir = tempDir();
  const env: Record<string, string> = { PATH: dir.path, PLAYWRIGHT_BROWSERS_PATH: join(dir.path, "cache") };
  assert.equal(findChromium(env), null);
  const whole = program(dir.path, "chromium");
  assert.equal(findChromium(env), whole);
  const shell = program(dir.path, "chromium-headless-shell");
  assert.equal(findChromium(env), shell, "the shell is quicker");
  const folder = join(dir.path, "cache/chromium_headless_shell-1/chrome-headless-shell-linux64");
  mkdirSync(folder, { recursive: true });
  const own = program(folder, "chrome-headless-shell");
  assert.equal(findChromium(env), own);
  const named = program(dir.path, "mine");
  assert.equal(findChromium({ ...env, APP_BROWSER_PATH: named }), named);
  assert.equal(findChromium({ ...env, APP_BROWSER_PATH: join(dir.path, "gone") }), own);
});

test("a machine that cannot install a browser goes without", async () => {
  using dir = tempDir();
  assert.equal(await ensureChromium({ PATH: dir.path, PLAYWRIGHT_BROWSERS_PATH: dir.path }), null);
});

test(
  "root gets a browser installed by apt, with the lists updated only if that is needed",
  { skip: process.getuid?.() !== 0 && "needs root" },
  async () => {
    using dir = tempDir();
    const log = join(dir.path, "log");
    const apt = join(dir.path, "apt-get");
    // The first install fails, as on a machine that has never updated its lists.
    writeFileSync(
      apt,
      `#!/bin/sh
echo "$@" >> "${log}"
case "$*" in
  *update*) : > "${dir.path}/updated" ;;
  *headless-shell*) [ -e "${dir.path}/updated" ] || exit 100
    printf '#!/bin/sh\\n' > "${dir.path}/chromium-headless-shell"; /bin/chmod +x "${dir.path}/chromium-headless-shell" ;;
  *) exit 100 ;;
esac
`,
    );
    chmodSync(apt, 0o755);
    const env = { PATH: dir.path, PLAYWRIGHT_BROWSERS_PATH: dir.path };
    const paths = await Promise.all([ensureChromium(env), ensureChromium(env)]);
    assert.deepEqual(paths, Array(2).fill(join(dir.path, "chromium-headless-shell")));
    const calls = readFileSync(log, "utf8").trim().split("\n");
    assert.equal(calls.filter((line) => line.includes("update")).length, 1);
    assert.equal(calls.filter((line) => line.endsWith("chromium-headless-shell")).length, 2, "two at once do it once");
  },
);

test(
  "a machine with a whole browser gets the shell of its version beside it, and does without where that cannot be had",
  { skip: process.getuid?.() !== 0 && "needs root" },
  async () => {
    using dir = tempDir();
    const log = join(dir.path, "log");
    const script = (name: string, text: string) => writeFileSync(program(dir.path, name), `#!/bin/sh\n${text}\n`);
    const env = { PATH: dir.path, PLAYWRIGHT_BROWSERS_PATH: dir.path };
    const whole = program(dir.path, "chromium");
    script("apt-get", `echo "$@" >> "${log}"; exit 100`);
    assert.equal(await ensureChromium(env), whole, "it is no package's");
    assert.ok(!existsSync(log));
    script("dpkg-query", `[ "$3" = chromium-common ] && printf 'ii 1.2-3'`);
    assert.equal(await ensureChromium(env), whole, "it cannot be fetched");
    const shell = join(dir.path, "chromium-headless-shell");
    script(
      "apt-get",
      `echo "$@" >> "${log}"
case "$*" in *--download-only*) exit 0 ;; esac
printf '#!/bin/sh\\n' > "${shell}"; /bin/chmod +x "${shell}"`,
    );
    assert.equal(await ensureChromium({ ...env, APP_BROWSER_PATH: whole }), whole, "it was asked for");
    assert.deepEqual(await Promise.all([ensureChromium(env), ensureChromium(env)]), [shell, shell]);
    const calls = readFileSync(log, "utf8").trim().split("\n");
    assert.equal(calls.length, 3, "two at once do it once");
    for (const call of calls) assert.match(call, /install .*chromium-headless-shell=1\.2-3$/);
  },
);

test("tests that need a browser are skipped loudly without one, and fail with CI=true", () => {
  using dir = tempDir();
  const kit = JSON.stringify(join(root, "test/support/browser-kit.ts"));
  writeFileSync(
    join(dir.path, "a.test.ts"),
    `import { test } from "node:test"; const { browserGate } = await import(${kit});
     test("plain", () => {}); test("in a browser", browserGate, () => { throw new Error("ran"); });`,
  );
  const { NODE_TEST_CONTEXT: _context, CI: _ci, ...plain } = process.env;
  const run = (more: Record<string, string>) =>
    spawnSync(process.execPath, [join(root, "scripts/test.mjs")], {
      encoding: "utf8",
      env: { ...plain, ORB_TEST_DIR: dir.path, ORB_TEST_CHROMIUM: "", ...more },
    });
  const here = run({});
  assert.equal(here.stdout.trimEnd().split("\n").at(-1), "1 passed, 0 failed, 1 skipped");
  assert.match(here.stdout, /SKIPPED +browser tests: no Chromium/);
  assert.equal(here.status, 0);
  assert.equal(run({ CI: "true" }).status, 1);
});
