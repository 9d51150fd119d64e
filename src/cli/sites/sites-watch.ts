import { WHILE_AT_WORK } from "../../domain/run/waiting.ts";
import type { SitesProgress } from "../../orchestrator/sites/sites-progress.ts";
import { siteChanges } from "../api/events.ts";
import { definedOnly, type UrlOption } from "../api/command.ts";
import type { CliContext } from "../context.ts";
import { EXIT, oneLine, type Terminal } from "../print/output.ts";
import { Picture } from "../print/picture.ts";
import { RecentRate } from "../print/progress.ts";
import { type Rates, sitesBlock, sitesLine } from "./sites-block.ts";
import { stopRequest } from "../stop.ts";
import { waitingLeft } from "../print/waiting-words.ts";

const PLAIN_LINE_MS = 10_000;
/** This many waiting sites get their own line. */
const MOST_WAITING = 3;

/** `orb sites --watch`: progress of all sites, until Ctrl-C. */
export async function watchSites(context: CliContext, { url }: UrlOption): Promise<void> {
  const { terminal, wiring } = context;
  const isLive = terminal.live && !context.json;
  let seen: SitesProgress | null = null;
  const pace = new Pace();
  const block = (lead: string) => {
    if (seen === null) return `${lead} loading`;
    const room = { columns: process.stderr.columns ?? 80, rows: process.stderr.rows ?? 24, now: wiring.now(), lead };
    return sitesBlock(terminal, seen, { ...room, rates: pace.note(seen, room.now) }).join("\n");
  };
  const picture = new Picture(terminal, isLive, block);
  const lines = new PlainLines(terminal, wiring.now);
  using stop = stopRequest(wiring, { live: true, err: () => {} }, null);
  try {
    await context.withApi({ ...definedOnly({ url }), log: (log) => picture.wrap(log) }, async (api) => {
      if (!context.json && api.here !== null && !(await api.here.engineRuns()))
        picture.note("no worker is running on this database; start orb worker or orb serve");
      const note = (text: string) => picture.note(text);
      for await (const progress of siteChanges(api, { signal: stop.signal, note })) {
        seen = progress;
        if (context.json) terminal.out(`${JSON.stringify(progress)}\n`);
        else if (!isLive) lines.print(progress);
        picture.show();
      }
    });
  } finally {
    picture.done();
    // Leaves the last state on the screen.
    if (isLive && seen !== null) terminal.err(`${block("·")}\n`);
  }
  context.exitCode = stop.exitCode ?? EXIT.done;
}

/** Over the last seconds: the server's averages cover minutes and hide recent changes. */
class Pace {
  readonly #whole = new RecentRate();
  #sites = new Map<string, RecentRate>();

  note({ totals, sites }: SitesProgress, now: number): Rates {
    this.#whole.note(now, totals.completed + totals.failed);
    const before = this.#sites;
    this.#sites = new Map(sites.map(({ site }) => [site, before.get(site) ?? new RecentRate()]));
    for (const { site, counts } of sites) this.#sites.get(site)?.note(now, counts.completed + counts.failed);
    return { whole: this.#whole.perSecond(), of: (site) => this.#sites.get(site)?.perSecond() ?? null };
  }
}

/** Occasional lines, for a log file. */
class PlainLines {
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #saidAt: number | null = null;

  constructor(terminal: Terminal, now: () => number) {
    this.#terminal = terminal;
    this.#now = now;
  }

  print(progress: SitesProgress): void {
    const at = this.#now();
    if (this.#saidAt !== null && at - this.#saidAt < PLAIN_LINE_MS) return;
    this.#saidAt = at;
    this.#terminal.out(`${sitesLine(this.#terminal, progress)}\n`);
    const waiting = progress.sites.filter(({ waiting_for: why }) => why !== null && !WHILE_AT_WORK.has(why.reason));
    for (const { site, waiting_for: why } of waiting.slice(0, MOST_WAITING))
      if (why !== null) this.#terminal.out(`  ${oneLine(`${site}: ${waitingLeft(why, at)}`)}\n`);
  }
}
