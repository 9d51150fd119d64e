import { readFile } from "node:fs/promises";
import type { Browser, CDPSession } from "playwright-core";
import type { Clock } from "../../base/clock.ts";

/** The processes of one browser, as the system sees them. */
export class BrowserProcess {
  readonly #session: CDPSession;
  readonly #clock: Clock;
  readonly pid: number | null;

  private constructor(session: CDPSession, clock: Clock, pid: number | null) {
    this.#session = session;
    this.#clock = clock;
    this.pid = pid;
  }

  static async of(browser: Browser, clock: Clock): Promise<BrowserProcess> {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    return new BrowserProcess(session, clock, processInfo.find(({ type }) => type === "browser")?.id ?? null);
  }

  /** Whether the browser still says something within this time. */
  answers(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(withinMs, () => resolve(false));
      const done = (alive: boolean) => {
        timer.cancel();
        resolve(alive);
      };
      this.#session.send("Browser.getVersion").then(
        () => done(true),
        () => done(false),
      );
    });
  }

  /** Resident memory of all its processes; 0 where the system does not tell. Shared pages count once per process. */
  async memory(): Promise<number> {
    const { processInfo } = await this.#session.send("SystemInfo.getProcessInfo");
    const sizes = await Promise.all(processInfo.map(({ id }) => residentBytes(id)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Ends the browser and all its processes at once, also one that is stopped or stuck. */
  async kill(): Promise<void> {
    if (this.pid === null) return;
    // It was started as the leader of a group of its own, or by a script that was; never ends our own group.
    const group = await groupOf(this.pid);
    const ours = await groupOf(process.pid);
    for (const target of [group !== null && group !== ours ? -group : this.pid, this.pid]) {
      try {
        process.kill(target, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
  }
}

const PAGE_SIZE = 4096;

async function residentBytes(pid: number): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, "utf8").catch(() => "");
  return Number(statm.split(" ")[1] ?? 0) * PAGE_SIZE;
}

async function groupOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The command name may contain anything, parentheses included; the fields after the last one are plain.
  const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  return Number.isInteger(group) && group > 1 ? group : null;
}
