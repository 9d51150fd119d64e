/** An import of many URLs, each of another site: one transaction that blocks all others. */
import { systemClock } from "../../src/base/clock.ts";
import type { NewTask } from "../../src/store/ports/port.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { median, print } from "../support/measure.ts";

const SITES = 1000;
const ROUNDS = 5;

function lines(round: number, page: number): NewTask[] {
  return Array.from({ length: SITES }, (_, index) => {
    const site = `shop-${round}-${index}.example`;
    const url = `https://${site}/${page}`;
    return { key: url, lane: `site:${site}`, site, resolver: null, url, priority: 0, handler: "crawl", payload: null };
  });
}

export async function benchSites(url: string): Promise<void> {
  const store = await openPostgresStore({ url: `${url}?schema=sites`, clock: systemClock });
  try {
    const { id } = (await store.startRun({ kind: "queue", maxAttempts: 3, snapshot: {} }, [], Date.now())).created;
    const took = { new: [] as number[], known: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [page, which] of (["new", "known"] as const).entries()) {
        const tasks = lines(round, page);
        const begun = performance.now();
        const { added } = await store.enqueue(id, tasks, Date.now());
        took[which].push(performance.now() - begun);
        if (added !== SITES) throw new Error(`${added} of ${SITES} were added`);
      }
    print(
      `1,000 lines of 1,000 new sites   ${median(took.new).toFixed(0)} ms, of known ones ${median(took.known).toFixed(0)} ms`,
    );
  } finally {
    await store.close();
  }
}
