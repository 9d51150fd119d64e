import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "./support/source.ts";
import { tempDir } from "./support/temp-dir.ts";

interface Script {
  ensureServices(env: Record<string, string>): Promise<boolean>;
}
const { ensureServices } = (await import(join(root, "scripts/services.mjs"))) as Script;

test("a machine that can install neither Redis nor Postgres goes without", async () => {
  using dir = tempDir();
  assert.equal(await ensureServices({ PATH: dir.path }), false);
});

test(
  "root gets a Redis and a Postgres installed by apt, once, and nothing of them is started",
  { skip: process.getuid?.() !== 0 && "needs root" },
  async () => {
    using dir = tempDir();
    const log = join(dir.path, "log");
    const apt = join(dir.path, "apt-get");
    writeFileSync(
      apt,
      `#!/bin/sh
echo "$RUNLEVEL $@" >> "${log}"
for name in redis-server postgres initdb; do
  printf '#!/bin/sh\\n' > "${dir.path}/$name"; /bin/chmod +x "${dir.path}/$name"
done
`,
    );
    chmodSync(apt, 0o755);
    const env = { PATH: dir.path };
    assert.deepEqual(await Promise.all([ensureServices(env), ensureServices(env)]), [true, true]);
    const calls = readFileSync(log, "utf8").trim().split("\n");
    assert.equal(calls.length, 1, "two at once do it once");
    assert.match(calls[0] ?? "", /^1 .*install -y .*redis-server postgresql$/);
  },
);
