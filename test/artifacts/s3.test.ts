import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import type { ArtifactStore } from "../../src/artifacts/port.ts";
import { Bucket, type BucketLimits, type BucketOptions } from "../../src/artifacts/s3/bucket.ts";
import { createBucketArtifactStore } from "../../src/artifacts/s3/store.ts";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { artifactContract, putBytes, readBytes } from "../contract/artifacts.ts";
import { BUCKET, S3_KEY, S3Server } from "../support/s3-server.ts";
import { tempDir } from "../support/temp-dir.ts";

const HASTE: Partial<BucketLimits> = { retryDelaysMs: [5, 5], responseTimeoutMs: 5000 };

function openAt(endpoint: string, dir: string, options: Partial<BucketOptions> = {}): ArtifactStore {
  const bucket = new Bucket({
    endpoint,
    region: "us-east-1",
    bucket: BUCKET,
    prefix: "some/where",
    ...S3_KEY,
    clock: systemClock,
    limits: HASTE,
    ...options,
  });
  return createBucketArtifactStore({ bucket, dir, clock: systemClock });
}

artifactContract("a bucket", async () => {
  const server = await S3Server.start();
  const dir = tempDir();
  const open = () => openAt(server.endpoint, dir.path);
  return {
    store: open(),
    another: open,
    tmp: `${dir.path}/tmp`,
    age: (hash) => server.age(hash),
    damage: (hash) => server.overwrite(hash, Buffer.from("something else")),
    async [Symbol.asyncDispose]() {
      dir[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
});

describe("files in a bucket", () => {
  test("lie below the prefix under the names that they have in a folder, and nothing else is there", async () => {
    await using server = await S3Server.start();
    using dir = tempDir();
    const store = openAt(server.endpoint, dir.path);
    const text = Buffer.from("All work and no play. ".repeat(20_000));
    const { hash } = await putBytes(store, text);
    const shard = hash.slice(0, 2);
    assert.deepEqual(server.keys(), [`some/where/sha256/${shard}/${hash}`]);
    assert.equal(store.locationOf(hash), `s3://${BUCKET}/some/where/sha256/${shard}/${hash}`);
    await store.coolDown(hash);
    await store.probe();
    assert.deepEqual(server.keys(), [`some/where/cold/${shard}/${hash}.zst`]);
  });

  test("go in parts when they are large", async () => {
    await using server = await S3Server.start();
    using dir = tempDir();
    const partBytes = 5 * 1024 * 1024;
    const store = openAt(server.endpoint, dir.path, { limits: { ...HASTE, partBytes } });
    const bytes = randomBytes(2 * partBytes + 12_345);
    const { hash, size } = await putBytes(store, bytes, 300_000);
    assert.deepEqual([hash, size], [createHash("sha256").update(bytes).digest("hex"), bytes.length]);
    assert.ok((await readBytes(store, hash)).equals(bytes));
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
  });

  test("are fetched once for tools that need a path; copies that nobody wants go", async () => {
    await using server = await S3Server.start();
    using dir = tempDir();
    const [first, second] = [randomBytes(100_000), randomBytes(100_000)];
    const open = () => openAt(server.endpoint, dir.path);
    const store = open();
    const [one, two] = [(await putBytes(store, first)).hash, (await putBytes(store, second)).hash];
    const path = await store.pathOf(one);
    await server.stop();
    assert.equal(await open().pathOf(one), path);
    await server.start();
    const longAgo = systemClock.now() / 1000 - 7200;
    utimesSync(path, longAgo, longAgo);
    assert.ok(readFileSync(await open().pathOf(two)).equals(second));
    assert.equal(existsSync(path), false);
    assert.ok(readFileSync(await store.pathOf(one)).equals(first), "and are fetched again");
  });

  test("whose transfer breaks off go on where they were", async () => {
    await using server = await S3Server.start();
    using dir = tempDir();
    const bytes = randomBytes(900_000);
    const { hash } = await putBytes(openAt(server.endpoint, dir.path), bytes);
    const ranges: (string | undefined)[] = [];
    // Ends every answer after 400,000 bytes; the signature does not cover where it came through.
    const cutting = createServer((request, response) => {
      ranges.push(request.headers.range);
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
      const rest = bytes.subarray(from);
      response.writeHead(from === 0 ? 200 : 206, { "content-length": rest.length });
      if (rest.length > 400_000) response.write(rest.subarray(0, 400_000), () => response.destroy());
      else response.end(rest);
    });
    await new Promise<void>((resolve) => cutting.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = cutting.address() as AddressInfo;
      assert.ok((await readBytes(openAt(`http://127.0.0.1:${port}`, dir.path), hash)).equals(bytes));
      assert.equal(ranges.length >= 3, true);
      assert.equal(ranges[0], undefined);
    } finally {
      cutting.closeAllConnections();
      await new Promise((resolve) => cutting.close(resolve));
    }
  });
});

describe("a bucket that cannot be used says why, and what to do", () => {
  const assertRefused = async (store: ArtifactStore, what: RegExp, hint: RegExp) => {
    const bytes = randomBytes(100_000);
    const asks = [() => store.probe(), () => putBytes(store, bytes), () => putBytes(store, Buffer.from("small"))];
    for (const ask of asks)
      await assert.rejects(ask, (error) => {
        assert.ok(isOrbError(error, "artifacts_unavailable"), String(error));
        assert.equal(error.reaction, "wait");
        assert.match(error.message, what);
        assert.match(error.hint ?? "", hint);
        assert.ok(!JSON.stringify([error.message, error.hint, String(error.cause)]).includes("very-secret"));
        return true;
      });
  };

  test("when it cannot be reached, and works again when it can", async () => {
    await using server = await S3Server.start();
    using dir = tempDir();
    const store = openAt(server.endpoint, dir.path);
    const { hash } = await putBytes(store, Buffer.from("a page"));
    await server.stop();
    await assertRefused(store, /is unreachable: ECONNREFUSED/, /APP_S3_ENDPOINT/);
    for (const ask of [
      () => store.open(hash),
      () => store.has(hash),
      () => store.verify(hash),
      () => store.sizeOf(hash),
    ])
      await assert.rejects(ask, (error) => isOrbError(error, "artifacts_unavailable"));
    await assert.rejects(
      store.removeOrphaned(hash, async () => true),
      (error) => isOrbError(error, "artifacts_unavailable"),
    );
    assert.deepEqual(readdirSync(`${dir.path}/tmp`), []);
    await server.start();
    await store.probe();
    assert.equal(await store.verify(hash), true);
  });

  test("when the key is refused", async () => {
    await using server = await S3Server.start();
    using dir = tempDir();
    for (const key of [{ accessKeyId: "nobody" }, { secretAccessKey: "very-secret" }])
      await assertRefused(openAt(server.endpoint, dir.path, key), /denies access .*orb-test/, /APP_S3_ACCESS_KEY_ID/);
  });

  test("when there is no such bucket", async () => {
    await using server = await S3Server.start();
    using dir = tempDir();
    const store = openAt(server.endpoint, dir.path, { bucket: "missing" });
    await assert.rejects(store.probe(), (error) => {
      assert.ok(isOrbError(error, "artifacts_unavailable"));
      assert.match(error.message, /no bucket named missing/);
      return true;
    });
    await assert.rejects(
      store.removeOrphaned("a".repeat(64), async () => true),
      /no bucket named missing/,
    );
    // Nobody may take a file for lost because of that.
    for (const ask of [store.open, store.has, store.sizeOf, store.verify, store.coolDown])
      await assert.rejects(ask("a".repeat(64)), /no bucket named missing/);
  });

  test("when it does not answer, or is beside itself", async () => {
    using dir = tempDir();
    let answers: "never" | "503" | "301" = "never";
    const silent = createServer((_request, response) => {
      if (answers === "never") return;
      response.writeHead(Number(answers), { "content-type": "application/xml" });
      response.end(
        answers === "503" ? "<Error><Code>SlowDown</Code></Error>" : "<Error><Code>PermanentRedirect</Code></Error>",
      );
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = silent.address() as AddressInfo;
      const limits = { responseTimeoutMs: 50, uploadTimeoutMs: 50, retryDelaysMs: [1] };
      const store = openAt(`http://127.0.0.1:${port}`, dir.path, { limits });
      await assert.rejects(putBytes(store, Buffer.from("x")), /does not answer in time/);
      answers = "503";
      await assert.rejects(putBytes(store, Buffer.from("x")), /answered 503 \(SlowDown\)/);
      await assertRefused(store, /answered 503/, /resumes automatically/);
      answers = "301";
      await assertRefused(store, /not in the region us-east-1/, /APP_S3_REGION/);
    } finally {
      silent.closeAllConnections();
      await new Promise((resolve) => silent.close(resolve));
    }
  });
});
