/** `orb doctor --fix`, with an apt-get that only writes down what it was asked for. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { installCommand } from "../../src/fetch/browser/find.ts";
import { Orb } from "../chaos/orb.ts";

const canInstall = process.getuid?.() === 0 && (await installCommand()).startsWith("apt-get ");

interface Doctor {
  checks: { name: string; what: string; fix: string | null }[];
}

describe("orb doctor --fix", () => {
  test("makes the data directory and closes a key that others can read", async () => {
    await using orb = new Orb({ APP_BROWSER_PATH: "/nowhere/chromium" });
    mkdirSync(orb.dataDir, { recursive: true });
    const key = join(orb.dataDir, "secret.key");
    writeFileSync(key, "a".repeat(64), { mode: 0o644 });
    const { code, stdout, stderr } = await orb.run(["doctor", "--fix", "--json"]);
    assert.equal(code, 1);
    assert.match(stderr, /is now readable by its owner only/);
    assert.match(
      stderr,
      /no browser at \/nowhere\/chromium: correct or unset APP_BROWSER_PATH/,
      "what the operator has named is not replaced",
    );
    assert.equal(statSync(key).mode & 0o777, 0o600);
    const browser = (JSON.parse(stdout) as Doctor).checks.find(({ name }) => name === "browser");
    assert.match(browser?.fix ?? "", /APP_BROWSER_PATH/);
  });

  test(
    "installs a Chromium as root on Debian, and fetches the lists of packages only when it must [slow]",
    { skip: canInstall ? false : "needs root on Debian" },
    async () => {
      await using orb = new Orb();
      const bin = join(orb.dir, "bin");
      const calls = join(orb.dir, "calls");
      mkdirSync(bin);
      // The shell is not to be had before the lists are new, and the whole browser never is.
      const script = `#!/bin/sh
echo "$@" >> "${calls}"
case "$*" in
  *update) /bin/touch "${bin}/lists" ;;
  *chromium-headless-shell) [ -e "${bin}/lists" ] || exit 100
    printf '#!/bin/sh\\nexit 1\\n' > "${bin}/chromium-headless-shell"; /bin/chmod +x "${bin}/chromium-headless-shell" ;;
  *) exit 100 ;;
esac
`;
      writeFileSync(join(bin, "apt-get"), script);
      chmodSync(join(bin, "apt-get"), 0o755);
      const env = { PATH: bin, HOME: orb.dir, PLAYWRIGHT_BROWSERS_PATH: join(orb.dir, "none") };
      const first = await orb.run(["doctor", "--fix", "--json"], { env });
      assert.match(first.stderr, /installing a Chromium/);
      const asked = readFileSync(calls, "utf8").trim().split("\n");
      assert.deepEqual(
        asked.map((line) => line.split(" ").at(-1)),
        ["chromium-headless-shell", "chromium", "update", "chromium-headless-shell"],
      );
      const again = await orb.run(["doctor", "--fix", "--json"], { env });
      assert.equal(again.stderr, "", "what is there is not installed again");
    },
  );
});
