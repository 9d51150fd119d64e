import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, test } from "node:test";
import { StateFile } from "../../src/supervisor/processes/state-file.ts";
import { until } from "../chaos/orb.ts";
import { isAlive } from "../fetch/browser/processes.ts";
import { servicesGate } from "../support/services-kit.ts";
import { root } from "../support/source.ts";
import { tempDir } from "../support/temp-dir.ts";

const LIBRARY = pathToFileURL(join(root, "src/index.ts")).href;

/** A program that somebody has written with the library: it says when it is ready, and has the rest of it follow. */
async function startProgram(dir: string, rest: string): Promise<{ program: ChildProcess; services: number[] }> {
  // Postgres runs as another user when the tests run as root.
  chmodSync(dir, 0o711);
  const file = join(dir, "program.ts");
  writeFileSync(
    file,
    `import { loadConfig, Orchestrator } from ${JSON.stringify(LIBRARY)};
     const { config } = loadConfig({ env: process.env, cwd: import.meta.dirname });
     const orb = await Orchestrator.start(config);
     process.stdout.write("ready\\n");
     ${rest}`,
  );
  const env = { PATH: process.env["PATH"] ?? "", APP_PORT: "0", APP_MANAGED_SERVICES: "redis,postgres" };
  const program = spawn(process.execPath, ["--conditions=source", file], {
    cwd: dir,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(program, "exit").then(([code]) =>
    assert.fail(`it ended with ${String(code)} before it was ready`),
  );
  await Promise.race([once(program.stdout!, "data"), ended]);
  const children = new StateFile(join(dir, "data")).read()?.children ?? [];
  const services = children.map(({ identity }) => identity?.pid ?? 0);
  assert.equal(services.filter(isAlive).length, 2);
  return { program, services };
}

const gone = (services: readonly number[]) => until(() => !services.some(isAlive), "nothing of its services is left");

describe("a program with managed services", servicesGate, () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    test(`that gets ${signal} stops its services, and ends by the signal [slow]`, async () => {
      using dir = tempDir();
      const { program, services } = await startProgram(dir.path, "");
      program.kill(signal);
      const [code, by] = (await once(program, "exit")) as [number | null, string | null];
      assert.deepEqual([code, by], [null, signal]);
      assert.deepEqual(services.filter(isAlive), []);
    });

  test("that has a handler of its own is left to it [slow]", async () => {
    using dir = tempDir();
    const handler = 'process.once("SIGTERM", () => void orb.stop().then(() => process.exit(7)));';
    const { program, services } = await startProgram(dir.path, handler);
    program.kill("SIGTERM");
    const [code] = (await once(program, "exit")) as [number | null];
    assert.equal(code, 7);
    assert.deepEqual(services.filter(isAlive), []);
  });

  test("that exits without a word leaves none behind [slow]", async () => {
    using dir = tempDir();
    const { program, services } = await startProgram(dir.path, 'process.stdin.once("data", () => process.exit(3));');
    program.stdin!.write("go");
    const [code] = (await once(program, "exit")) as [number | null];
    assert.equal(code, 3);
    await gone(services);
  });

  test("that starts twice has its services until both have stopped [slow]", async () => {
    using dir = tempDir();
    const rest = `await new Promise((resolve) => process.stdin.once("data", resolve));
      process.stdin.destroy();
      const reader = await Orchestrator.start(config, { work: false });
      await orb.stop();
      await reader.queue.stats();
      const again = await Orchestrator.start(config);
      await reader.stop();
      await again.queue.stats();
      await again.stop();`;
    const { program, services } = await startProgram(dir.path, rest);
    program.stdin!.write("go");
    const [code] = (await once(program, "exit")) as [number | null];
    assert.equal(code, 0);
    assert.deepEqual(services.filter(isAlive), []);
  });
});
