import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createFile, replaceFile } from "../../src/base/files/whole-file.ts";
import { forEachKill } from "../support/crash-at-call.ts";
import { tempDir } from "../support/temp-dir.ts";

const content = (round: number) => `${String(round).repeat(1000)}\n`;

test("a kill between any two calls leaves a new file whole or not there, and the next attempt leaves nothing else", () => {
  using dir = tempDir();
  const pathOf = (round: number) => join(dir.path, `folder-${round}`, "file");
  const rounds = forEachKill(
    (round) => createFile(pathOf(round), content(round)),
    (round) => {
      const path = pathOf(round);
      if (existsSync(path)) assert.equal(readFileSync(path, "utf8"), content(round), `killed at call ${round}`);
      const wasThere = existsSync(path);
      assert.equal(createFile(path, "second\n"), !wasThere);
      assert.equal(readFileSync(path, "utf8"), wasThere ? content(round) : "second\n");
      if (!wasThere) assert.deepEqual(readdirSync(join(path, "..")), ["file"]);
    },
  );
  assert.ok(rounds >= 10, `there were ${rounds} calls`);
});

test("a kill between any two calls leaves a replaced file as it was or as it should be", () => {
  using dir = tempDir();
  const path = join(dir.path, "state.json");
  replaceFile(path, content(0));
  let before = content(0);
  const rounds = forEachKill(
    (round) => replaceFile(path, content(round + 1), { mode: 0o600 }),
    (round) => {
      const now = readFileSync(path, "utf8");
      assert.ok(now === before || now === content(round + 1), `killed at call ${round}`);
      before = now;
    },
  );
  assert.ok(rounds >= 7, `there were ${rounds} calls`);
  assert.deepEqual(readdirSync(dir.path), ["state.json"]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("what a killed process left under the draft's name gives a secret to nobody", () => {
  using dir = tempDir();
  const path = join(dir.path, "redis.conf");
  writeFileSync(`${path}.new`, "old", { mode: 0o644 });
  replaceFile(path, "secret", { mode: 0o600 });
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("of several processes that create one file at once exactly one does, and all read the same", async () => {
  using dir = tempDir();
  const path = join(dir.path, "secret.key");
  const module = new URL("../../src/base/files/whole-file.ts", import.meta.url).href;
  // All wait for the same moment: a line on their standard input.
  const program = `
    import { readFileSync } from "node:fs";
    import { createFile } from ${JSON.stringify(module)};
    process.stdout.write("ready\\n");
    process.stdin.once("data", () => {
      const created = createFile(${JSON.stringify(path)}, process.pid + "\\n");
      process.stdout.write(JSON.stringify({ created, text: readFileSync(${JSON.stringify(path)}, "utf8") }));
      process.exit();
    });`;
  const children = Array.from({ length: 4 }, () => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.stderr.pipe(process.stderr);
    return { child, ready: once(child.stdout, "data"), closed: once(child, "close"), said: () => said };
  });
  await Promise.all(children.map(({ ready }) => ready));
  for (const { child } of children) child.stdin.write("go\n");
  await Promise.all(children.map(({ closed }) => closed));
  const answers = children.map(({ said }) => JSON.parse(said().split("\n")[1] ?? "") as Record<string, unknown>);
  assert.equal(answers.filter(({ created }) => created === true).length, 1);
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.deepEqual(readdirSync(dir.path), ["secret.key"]);
});
