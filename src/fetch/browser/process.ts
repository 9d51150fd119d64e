import { readdir, readFile, rm } from "node:fs/promises";
import { basename } from "node:path";
import type { Browser, CDPSession } from "playwright-core";
import type { Clock } from "../../base/clock.ts";

/** The processes of one browser, as the system sees them. */
export class BrowserProcess {
  readonly pid: number | null;
  readonly #session: CDPSession;
  readonly #clock: Clock;
  readonly #group: number | null;
  readonly #profile: string | null;

  private constructor(
    session: CDPSession,
    clock: Clock,
    pid: number | null,
    group: number | null,
    profile: string | null,
  ) {
    this.pid = pid;
    this.#session = session;
    this.#clock = clock;
    this.#group = group;
    this.#profile = profile;
  }

  static async of(browser: Browser, clock: Clock): Promise<BrowserProcess> {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const pid = processInfo.find(({ type }) => type === "browser")?.id ?? null;
    if (pid === null) return new BrowserProcess(session, clock, null, null, null);
    const [group, ours, profile] = await Promise.all([groupOf(pid), groupOf(process.pid), profileOf(pid)]);
    // It was started as the leader of a group of its own, or by a script that was; never ends our own group.
    return new BrowserProcess(session, clock, pid, group === ours ? null : group, profile);
  }

  /**
   * Whether the browser still says something within this time. One that has work and is not given the processor is not
   * stuck: a busy machine gets a few times as long.
   */
  async answers(withinMs: number): Promise<boolean> {
    const answer = this.#session.send("Browser.getVersion").then(
      () => true,
      () => false,
    );
    for (let looks = 1; ; looks += 1) {
      const answered = await this.#inTime(answer, withinMs);
      if (answered !== null) return answered;
      if (looks === MOST_LOOKS || !(await this.#isAtWork())) return false;
    }
  }

  #inTime(answer: Promise<boolean>, ms: number): Promise<boolean | null> {
    return new Promise((resolve) => {
      // Messages that arrived while this process was starved are handled first.
      const late = () => setImmediate(() => setImmediate(() => resolve(null)));
      const timer = this.#clock.after(ms, late);
      void answer.then((alive) => {
        timer.cancel();
        resolve(alive);
      });
    });
  }

  /** Any of its threads runs, would run if it could, or waits for a disk. */
  async #isAtWork(): Promise<boolean> {
    const threads = await readdir(`/proc/${this.pid}/task`).catch(() => []);
    const states = await Promise.all(threads.map((thread) => stateOf(`/proc/${this.pid}/task/${thread}/stat`)));
    return states.some((state) => state === "R" || state === "D");
  }

  /** Resident memory of all its processes; 0 where the system does not report it. Shared pages count once per process. */
  async memory(): Promise<number> {
    const { processInfo } = await this.#session.send("SystemInfo.getProcessInfo");
    const sizes = await Promise.all(processInfo.map(({ id }) => residentBytes(id)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Ends the browser and all its processes at once, also one that is stopped or stuck. */
  kill(): void {
    if (this.pid === null) return;
    try {
      process.kill(this.#group === null ? this.pid : -this.#group, "SIGKILL");
    } catch {
      // It is gone already.
    }
  }

  /**
   * After the end: helpers that outlived a crashed browser go, and then its profile. Playwright removes that as well,
   * but a helper may still write to it at that moment, and what it leaves would stay for ever.
   */
  async clear(): Promise<void> {
    this.kill();
    if (this.#profile === null) return;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch(() => {});
  }
}

const PAGE_SIZE = 4096;
/** Nothing is busy for ever that is to answer what its version is. */
const MOST_LOOKS = 5;

async function stateOf(path: string): Promise<string> {
  const stat = await readFile(path, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "";
}

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

/** Only a folder that was made for this one browser, by its name. */
async function profileOf(pid: number): Promise<string | null> {
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const folder =
    command
      .split("\0")
      .find((part) => part.startsWith("--user-data-dir="))
      ?.slice(16) ?? "";
  return basename(folder).startsWith("playwright_chromiumdev_profile-") ? folder : null;
}
