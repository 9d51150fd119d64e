import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { createLink, type Link, poke, socketPath, watchEngine } from "../../src/engine/embedded/link.ts";
import { tempDir } from "../support/temp-dir.ts";

type Poke = string[] | null;

/** Pokes in the order in which they arrive. */
class Inbox {
  readonly #got: Poke[] = [];
  readonly #waiting: ((poke: Poke) => void)[] = [];

  readonly receive = (lanes: Poke): void => {
    const waiter = this.#waiting.shift();
    if (waiter === undefined) this.#got.push(lanes);
    else waiter(lanes);
  };

  next(): Promise<Poke> {
    const got = this.#got.shift();
    return got !== undefined ? Promise.resolve(got) : new Promise((resolve) => this.#waiting.push(resolve));
  }
}

function folder(t: TestContext): string {
  const dir = tempDir();
  t.after(() => dir[Symbol.dispose]());
  return dir.path;
}

async function listening(t: TestContext, address: string): Promise<{ link: Link; inbox: Inbox }> {
  const inbox = new Inbox();
  const link = createLink(address);
  await link.listen(inbox.receive);
  t.after(() => link.close());
  return { link, inbox };
}

test("a poke names the lanes that got work", async (t) => {
  const { link, inbox } = await listening(t, join(folder(t), "orb.db.sock"));
  await poke(link.address, ["site:a.example", "site:b.example"]);
  assert.deepEqual(await inbox.next(), ["site:a.example", "site:b.example"]);
  assert.equal(await poke(link.address, null), true);
  assert.equal(await inbox.next(), null);
  assert.equal(await poke(`${link.address}.none`, null), false, "whoever pokes nobody learns of it");
});

test("a poke with very many lanes says only: look at everything", async (t) => {
  const { link, inbox } = await listening(t, join(folder(t), "orb.db.sock"));
  await poke(
    link.address,
    Array.from({ length: 5000 }, (_, n) => `site:${n}.example`),
  );
  assert.equal(await inbox.next(), null);
});

test("fifty pokes at once all arrive", async (t) => {
  const { link, inbox } = await listening(t, join(folder(t), "orb.db.sock"));
  const sent = Array.from({ length: 50 }, (_, n) => `lane-${n}`);
  await Promise.all(sent.map((lane) => poke(link.address, [lane])));
  const got = await Promise.all(sent.map(() => inbox.next()));
  assert.deepEqual(got.flat().toSorted(), sent.toSorted());
});

test("what is not a poke of ours means: look at everything", async (t) => {
  const { link, inbox } = await listening(t, join(folder(t), "orb.db.sock"));
  for (const line of ["not json", '{"a":1}', "[1,2]"]) {
    const socket = createConnection(link.address);
    socket.end(`${line}\n`);
    assert.equal(await inbox.next(), null);
  }
});

test("a peer that never ends its line is cut off", async (t) => {
  const { link } = await listening(t, join(folder(t), "orb.db.sock"));
  const socket = createConnection(link.address);
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.write("x".repeat(1_200_000));
  await closed;
});

test("poking nobody is no error", async (t) => {
  await poke(join(folder(t), "nobody.sock"), ["a"]);
});

test("a watch lasts as long as the engine's process", async (t) => {
  const address = join(folder(t), "orb.db.sock");
  const url = JSON.stringify(new URL("../../src/engine/embedded/link.ts", import.meta.url).href);
  const child = spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `const { createLink } = await import(${url});
       await createLink(process.argv[1]).listen(() => {});
       console.log("ready");
       setInterval(() => {}, 1000);`,
      address,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const watch = watchEngine(address);
  let closed = false;
  void watch.closed.then(() => (closed = true));
  await poke(address, null);
  assert.equal(closed, false);
  child.kill("SIGKILL");
  await watch.closed;
});

test("a watch of nobody is closed at once, and one that is stopped is closed", async (t) => {
  const dir = folder(t);
  await watchEngine(join(dir, "nobody.sock")).closed;
  const { link } = await listening(t, join(dir, "orb.db.sock"));
  const watch = watchEngine(link.address);
  watch.stop();
  await watch.closed;
});

test("a closed link ends its watches, leaves no file, and can listen again", async (t) => {
  const { link, inbox } = await listening(t, join(folder(t), "orb.db.sock"));
  const watch = watchEngine(link.address);
  await poke(link.address, ["a"]);
  assert.deepEqual(await inbox.next(), ["a"]);
  await link.close();
  await watch.closed;
  assert.equal(existsSync(link.address), false);
  await link.listen(inbox.receive);
  await poke(link.address, ["b"]);
  assert.deepEqual(await inbox.next(), ["b"]);
});

test("a socket file that a killed engine left behind is replaced", async (t) => {
  const address = join(folder(t), "orb.db.sock");
  writeFileSync(address, "left behind");
  const { inbox } = await listening(t, address);
  await poke(address, ["a"]);
  assert.deepEqual(await inbox.next(), ["a"]);
});

test("the socket is its owner's alone", { skip: process.platform === "win32" }, async (t) => {
  const { link } = await listening(t, join(folder(t), "orb.db.sock"));
  assert.equal(statSync(link.address).mode & 0o777, 0o600);
});

test("an engine that was frozen and replaced leaves its successor's socket alone", async (t) => {
  const address = join(folder(t), "orb.db.sock");
  const frozen = createLink(address);
  await frozen.listen(() => {});
  const { inbox } = await listening(t, address);
  await frozen.close();
  assert.equal(existsSync(address), true, "the successor's socket is gone");
  await poke(address, ["a"]);
  assert.deepEqual(await inbox.next(), ["a"]);
});

test("a folder in the place of the socket is an error that can be caught", async (t) => {
  const address = join(folder(t), "orb.db.sock");
  mkdirSync(address);
  const link = createLink(address);
  await assert.rejects(link.listen(() => {}));
  await link.close();
});

test(
  "a path too long for a socket is moved to the folder for temporary files",
  { skip: process.platform === "win32" },
  async (t) => {
    const deep = join(folder(t), "d".repeat(60), "e".repeat(60));
    mkdirSync(deep, { recursive: true });
    const database = join(deep, "orb.db");
    const address = socketPath(database);
    assert.equal(dirname(address), tmpdir());
    assert.equal(socketPath(database), address);
    assert.notEqual(socketPath(`${database}2`), address);
    t.after(() => rmSync(address, { force: true }));
    const { inbox } = await listening(t, address);
    await poke(address, ["a"]);
    assert.deepEqual(await inbox.next(), ["a"]);
  },
);

test(
  "a short path has its socket beside the database, whatever its bytes are",
  { skip: process.platform === "win32" },
  (t) => {
    const dir = folder(t);
    assert.equal(socketPath(join(dir, "orb.db")), join(dir, "orb.db.sock"));
    // 60 letters, but 120 bytes.
    assert.equal(dirname(socketPath(`/x/${"ä".repeat(60)}`)), tmpdir());
    symlinkSync(dir, join(dir, "link"));
    assert.equal(socketPath(join(dir, "link", "orb.db")), join(dir, "link", "orb.db.sock"));
  },
);
