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
    // The browser, or the script that started it, leads its own process group; `kill` must never hit ours.
    return new BrowserProcess(session, clock, pid, group === ours ? null : group, profile);
  }

  /** A browser of another machine: its process ids mean nothing here, so it is neither measured nor killed. */
  static async ofRemote(browser: Browser, clock: Clock): Promise<BrowserProcess> {
    return new BrowserProcess(await browser.newBrowserCDPSession(), clock, null, null, null);
  }

  /**
   * Whether the browser responds within this time. A browser that is runnable but gets no CPU is not stuck: on a busy
   * machine the time is extended up to MAX_CHECKS times.
   */
  async answers(withinMs: number): Promise<boolean> {
    const answer = this.#session.send("Browser.getVersion").then(
      () => true,
      () => false,
    );
    for (let checks = 1; ; checks += 1) {
      const answered = await this.#answeredWithin(answer, withinMs);
      if (answered !== null) return answered;
      if (checks === MAX_CHECKS || !(await this.#isBusy())) return false;
    }
  }

  #answeredWithin(answer: Promise<boolean>, ms: number): Promise<boolean | null> {
    return new Promise((resolve) => {
      // Messages that arrived while this process was starved are handled first.
      const onTimeout = () => setImmediate(() => setImmediate(() => resolve(null)));
      const timer = this.#clock.after(ms, onTimeout);
      void answer.then((alive) => {
        timer.cancel();
        resolve(alive);
      });
    });
  }

  /** Any thread is runnable or waits for a disk. */
  async #isBusy(): Promise<boolean> {
    const threads = await readdir(`/proc/${this.pid}/task`).catch(() => []);
    const states = await Promise.all(threads.map((thread) => stateOf(`/proc/${this.pid}/task/${thread}/stat`)));
    return states.some((state) => state === "R" || state === "D");
  }

  /** Resident memory of all its processes; 0 where the system does not report it. Shared pages count once per process. */
  async memory(): Promise<number> {
    if (this.pid === null) return 0;
    const { processInfo } = await this.#session.send("SystemInfo.getProcessInfo");
    const sizes = await Promise.all(processInfo.map(({ id }) => residentBytes(id)));
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Kills all processes of the browser, including stopped or stuck ones. */
  kill(): void {
    if (this.pid === null) return;
    try {
      process.kill(this.#group === null ? this.pid : -this.#group, "SIGKILL");
    } catch {
      // It is gone already.
    }
  }

  /**
   * Kills helpers that outlived a crashed browser, then removes its profile. Playwright removes it as well, but a helper
   * may still write to it at that moment and leave files behind for good.
   */
  async cleanUp(): Promise<void> {
    this.kill();
    if (this.#profile === null) return;
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch(() => {});
  }
}

const PAGE_SIZE = 4096;
/** After these many timeouts, even a busy browser counts as stuck. */
const MAX_CHECKS = 5;

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
  // The command name may contain parentheses; the fields follow the last one.
  const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  return Number.isInteger(group) && group > 1 ? group : null;
}

/** Only a temporary profile of Playwright, recognised by its name. */
async function profileOf(pid: number): Promise<string | null> {
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const folder =
    command
      .split("\0")
      .find((part) => part.startsWith("--user-data-dir="))
      ?.slice(16) ?? "";
  return basename(folder).startsWith("playwright_chromiumdev_profile-") ? folder : null;
}
