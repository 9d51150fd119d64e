import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { describe, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import { Child } from "../../src/supervisor/processes/child.ts";
import { findPostgres } from "../../src/supervisor/services/programs.ts";
import { PACE } from "../../src/supervisor/processes/restarts.ts";
import { serviceChild, serviceFolder, SERVICES } from "../../src/supervisor/services/services.ts";
import { isAlive } from "../fetch/browser/processes.ts";
import { somePort } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";
import { tempDir } from "../support/temp-dir.ts";

function redisIn(dir: string, url?: string): Child {
  const address = url === undefined ? {} : { APP_REDIS_URL: url };
  const { config } = loadConfig({ env: { APP_MANAGED_SERVICES: "redis", ...address }, cwd: dir });
  const kind = serviceChild(SERVICES.redis, { config, clock: systemClock, before: null });
  return new Child(kind, { clock: systemClock, log: silentLog, pace: PACE, changed: () => {} });
}

describe("services", servicesGate, () => {
  test("a Redis is started at the address that is configured, with its password or none, and known again there", async () => {
    for (const [user, host] of [
      [":two%20words%22%5C%C3%A4@", "[::1]"],
      ["", "localhost"],
    ]) {
      using dir = tempDir();
      const port = await somePort();
      const child = redisIn(dir.path, `redis://${user}${host}:${port}`);
      const next = redisIn(dir.path, `redis://${user}${host}:${port}`);
      try {
        await child.start();
        assert.deepEqual([child.status.state, child.status.port], ["up", port], child.status.note ?? "");
        // Whoever comes after a killed supervisor has to stop it: it is ours, although it answers at that address.
        await next.start();
        assert.equal(next.status.identity?.pid, child.status.identity?.pid);
      } finally {
        await Promise.all([child.stop(), next.stop()]);
      }
    }
  });

  test("a Redis of ours is known again on the port that it has, also when what runs was not written down", async () => {
    using dir = tempDir();
    const taken = createServer();
    // Whoever has it already keeps it from us just as well.
    await new Promise<void>((resolve) => {
      taken.once("error", () => resolve()).listen(SERVICES.redis.defaultPort, "127.0.0.1", resolve);
    });
    const child = redisIn(dir.path);
    const next = redisIn(dir.path);
    let pid: number | undefined;
    try {
      await child.start();
      assert.notEqual(child.status.port, SERVICES.redis.defaultPort);
      await next.start();
      const { state, identity, port } = next.status;
      pid = identity?.pid;
      assert.deepEqual([state, pid, port], ["up", child.status.identity?.pid, child.status.port]);
    } finally {
      await Promise.all([child.stop(), next.stop()]);
      taken.close();
    }
    assert.ok(pid !== undefined && !isAlive(pid));
  });

  test("Postgres is run by the version that made its data; when that is gone, it is named", () => {
    using dir = tempDir();
    const { config } = loadConfig({
      env: { APP_MANAGED_SERVICES: "postgres", APP_DATABASE_URL: "sqlite:orb.db" },
      cwd: dir.path,
    });
    const folder = serviceFolder(config, "postgres");
    const present = findPostgres() ?? assert.fail();
    // A newer one was installed, and comes first on the path.
    const newer = join(dir.path, "newer");
    mkdirSync(newer);
    for (const name of ["postgres", "initdb"]) {
      writeFileSync(join(newer, name), "#!/bin/sh\necho 'postgres (PostgreSQL) 99.1 (somewhere 99.1-1)'\n");
      chmodSync(join(newer, name), 0o755);
    }
    const path = process.env["PATH"];
    process.env["PATH"] = `${newer}${delimiter}${path}`;
    try {
      assert.equal(findPostgres(), newer, "for new data it is the one to take");
      chmodSync(dir.path, 0o711);
      mkdirSync(join(folder, "data"), { recursive: true });
      const created = (version: string) => writeFileSync(join(folder, "data", "PG_VERSION"), `${version}\n`);
      created("99");
      assert.equal(SERVICES.postgres.require(folder), newer);
      const version = execFileSync(join(present, "postgres"), ["--version"], { encoding: "utf8" });
      created(/\d+/.exec(version)?.[0] ?? assert.fail(version));
      assert.equal(SERVICES.postgres.require(folder), present);
      created("9.6");
      assert.throws(
        () => SERVICES.postgres.require(folder),
        /managed Postgres data needs version 9\.6, which is not installed/,
      );
    } finally {
      process.env["PATH"] = path;
    }
  });
});
