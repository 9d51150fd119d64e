import assert from "node:assert/strict";
import { isAlive, processes, treeOf } from "../fetch/browser/processes.ts";
import { CheckedApi } from "../jobs/answers.ts";
import { Caller } from "../jobs/caller.ts";
import { type Ended, type Orb, type OrbProcess, until } from "./orb.ts";

/** `orb serve` as a process of its own, on a free port, and a user who calls it. */
export class Served extends Caller {
  readonly process: OrbProcess;
  readonly api: CheckedApi;

  private constructor(process: OrbProcess, api: CheckedApi) {
    super();
    this.process = process;
    this.api = api;
  }

  /** Resolves once it logs its address. */
  static async start(orb: Orb, options: readonly string[] = [], env: Record<string, string> = {}): Promise<Served> {
    const process = orb.start(["serve", "--port", "0", ...options], { env });
    await process.said("listening on");
    const url = /listening on (http:\/\/[^"]+)/.exec(process.stderr)?.[1] ?? "";
    return new Served(process, await CheckedApi.open(url));
  }

  /** Kills the process group: the server and everything it started. */
  async killed(): Promise<void> {
    const family = treeOf(this.process.pid).map(({ pid }) => pid);
    const { signal } = await this.process.killed();
    assert.equal(signal, "SIGKILL");
    await this.api.close();
    await until(() => !family.some(isAlive), "no child of the dead process is left");
  }

  /** Stops it and returns its exit. */
  async terminated(): Promise<Ended> {
    const family = treeOf(this.process.pid).map(({ pid }) => pid);
    this.process.kill("SIGTERM");
    const ended = await this.process.end();
    await this.api.close();
    await until(() => !family.some(isAlive), "it leaves no process behind");
    return ended;
  }
}

/** Browsers keep their profile in the installation's folder: a process that still refers to it is an orphan. */
export async function assertNoBrowsers(orb: Orb): Promise<void> {
  const left = () => processes().filter(({ command, state }) => state !== "Z" && command.includes(orb.dir));
  await until(() => left().length === 0, `no browser is left: ${left().map(({ command }) => command.slice(0, 80))}`);
}
