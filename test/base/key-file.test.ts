import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { openClient } from "../../src/app/context.ts";
import { loadConfig } from "../../src/config/load.ts";
import { openSeal, secretKeyFile } from "../../src/app/secret-key.ts";
import { StateFile, type UpState } from "../../src/supervisor/processes/state-file.ts";
import { servicePassword } from "../../src/supervisor/services/password.ts";
import { forEachKill } from "../support/crash-at-call.ts";
import { tempDir } from "../support/temp-dir.ts";

const configIn = (dataDir: string) =>
  loadConfig({ env: { APP_DATA_DIR: dataDir, APP_LOG_LEVEL: "error" }, cwd: dataDir }).config;
const isWrongKey = (error: unknown) => isOrbError(error, "secret_key_wrong");
const session = { name: "login", origin: "https://a.example", holds: ["cookies"], checkUrl: null };

test("a kill at any moment while the key is made: the next start seals and opens", () => {
  using dir = tempDir();
  const folderOf = (round: number) => join(dir.path, String(round));
  const rounds = forEachKill(
    (round) => openSeal(configIn(folderOf(round))).mark("x"),
    (round) => {
      const config = configIn(folderOf(round));
      const sealed = openSeal(config).close("value", "test");
      assert.equal(openSeal(config).open(sealed, "test"), "value", `killed at call ${round}`);
      assert.equal(statSync(secretKeyFile(config)).mode & 0o777, 0o600);
    },
  );
  assert.ok(rounds >= 10, `there were ${rounds} calls`);
});

test("an empty key file of an earlier version is filled when nothing was sealed yet", async () => {
  using dir = tempDir();
  const config = configIn(dir.path);
  writeFileSync(secretKeyFile(config), "", { mode: 0o600 });
  await using one = await openClient(config);
  await using two = await openClient(config);
  // Both found it empty; what one seals the other opens.
  assert.equal(two.seal.open(one.seal.close("value", "test"), "test"), "value");
  await using later = await openClient(config);
  assert.equal(later.seal.open(two.seal.close("value", "test"), "test"), "value");
});

test("a key file that was emptied later is not replaced: what it sealed would be lost for good", async () => {
  using dir = tempDir();
  const config = configIn(dir.path);
  const path = secretKeyFile(config);
  let sealed: Uint8Array;
  let key: string;
  {
    await using client = await openClient(config);
    sealed = client.seal.close({ cookies: [] }, "session");
    await client.store.createSession({ ...session, holds: ["cookies"], sealed }, client.clock.now());
    key = readFileSync(path, "utf8");
    truncateSync(path);
  }
  {
    await using client = await openClient(config);
    assert.throws(() => client.seal.open(sealed, "session"), isWrongKey);
    assert.equal(statSync(path).size, 0);
  }
  writeFileSync(path, key);
  await using client = await openClient(config);
  assert.deepEqual(client.seal.open(sealed, "session"), { cookies: [] });
});

test("a kill at any moment while a service's password is made leaves one that stays", () => {
  using dir = tempDir();
  const folderOf = (round: number) => join(dir.path, String(round));
  forEachKill(
    (round) => servicePassword(folderOf(round)),
    (round) => {
      const path = join(folderOf(round), "password");
      const left = existsSync(path) ? readFileSync(path, "utf8").trim() : null;
      const password = servicePassword(folderOf(round));
      assert.match(password, /^[0-9a-f]{48}$/);
      if (left !== null) assert.equal(password, left);
      assert.equal(servicePassword(folderOf(round)), password);
    },
  );
});

test("a kill at any moment while the state of `orb up` is written leaves the old state or the new one", () => {
  using dir = tempDir();
  const file = new StateFile(dir.path);
  const state = (startedAt: number): UpState => ({
    ...{ supervisor: null, by: "up", startedAt, url: null },
    ...{ ports: { redis: 6390 }, children: [] },
  });
  file.write(state(0));
  let before = 0;
  forEachKill(
    (round) => file.write(state(round + 1)),
    (round) => {
      const now = file.read()?.startedAt ?? -1;
      assert.ok(now === before || now === round + 1, `killed at call ${round}: ${now}`);
      before = now;
    },
  );
  assert.deepEqual(readdirSync(join(dir.path, "up")), ["state.json"]);
});
