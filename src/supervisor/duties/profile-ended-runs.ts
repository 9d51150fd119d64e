import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type HealthProfile, LostCounter, type LostPages, ProfileBuilder } from "../../domain/health/profile.ts";
import { ruleFieldsOf, rulesOf } from "../../domain/health/run-records.ts";
import type { RunRecord, Store } from "../../store/ports/port.ts";
import type { Duty } from "../duties.ts";

/** Runs per look, and records per read: other work gets its turn in between. */
const RUNS = 20;
const CHUNK = 200;
/** Of a run's pages that lack a required field, so many are counted. */
const MOST_FAILED = 20_000;

interface ProfileDeps {
  store: Store;
  clock: Clock;
  wake: (lanes: string[]) => Promise<void>;
  log: Log;
  /** Whether alerts are sent; otherwise they are only stored and logged. */
  deliver: boolean;
}

/**
 * Profiles the records of ended runs of jobs and compares them with earlier runs. Everything is written in one
 * transaction per run: after a crash, or beside another leader, it is computed again and written once.
 */
export function profileEndedRuns({ store, clock, wake, log, deliver }: ProfileDeps): Duty {
  return {
    name: "compare the records of ended runs with those before",
    everyMs: 1000,
    looksFirst: true,
    follows: true,
    async run(signal, due) {
      if (due?.unprofiledRuns === false) return false;
      for (let hasCompared = false; ;) {
        const runs = await store.runsWithoutHealth(RUNS);
        for (const { runId, generation } of runs) {
          if (signal.aborted) return false;
          const run = await store.run(runId);
          // Deleted, or opened again meanwhile.
          if (run === null || run.generation !== generation) continue;
          await compare(run, signal);
          hasCompared = true;
        }
        // Repairs and monitors wait for this.
        if (runs.length < RUNS || signal.aborted) return hasCompared;
      }
    },
  };

  async function compare(run: RunRecord, signal: AbortSignal): Promise<void> {
    const rules = rulesOf(run);
    const profile = rules === null ? null : await profileOf(run, rules, signal);
    if (signal.aborted) return;
    const found = rules === null || profile === null ? null : { rules, profile };
    const recorded = await store.recordRunHealth(
      { runId: run.id, generation: run.generation },
      found,
      { deliver },
      clock.now(),
    );
    if (recorded !== null && recorded.lanes.length > 0) await wake(recorded.lanes);
    const alert = recorded?.alert ?? null;
    if (alert !== null)
      log.info(`alert: ${alert.message}`, { alert: alert.id, kind: alert.kind, subject: alert.subject });
  }

  async function profileOf(run: RunRecord, rules: string, signal: AbortSignal): Promise<HealthProfile> {
    const { id, kind } = run;
    const builder = new ProfileBuilder();
    let after: string | undefined;
    do {
      const page = await store.results(id, { limit: CHUNK, ...(after === undefined ? {} : { after }) });
      for (const { data, taskId, url } of page) builder.add(ruleFieldsOf(kind, data), taskId, url);
      after = page.length < CHUNK ? undefined : page.at(-1)?.id;
      await setImmediate();
    } while (after !== undefined && !signal.aborted);
    const lost = await lostPages(run, rules, signal);
    return lost === null ? builder.profile() : { ...builder.profile(), lost };
  }

  /**
   * Pages that failed on a required field have no record, and are the clearest sign of a broken rule; but only those that
   * gave one before. Null: that cannot be told, as in a job's first run.
   */
  async function lostPages(
    { id, kind, facts }: RunRecord,
    rules: string,
    signal: AbortSignal,
  ): Promise<LostPages | null> {
    if (kind !== "crawl" || facts.changes === undefined) return null;
    const errors = await store.runErrors(id);
    let left = Math.min(MOST_FAILED, errors.find(({ reason }) => reason === "field_missing")?.count ?? 0);
    const counter = new LostCounter();
    for (let after: string | undefined; left > 0 && !signal.aborted;) {
      const filter = { states: ["failed" as const], pagesOnly: true, limit: CHUNK };
      const tasks = await store.tasks(id, after === undefined ? filter : { ...filter, after });
      const failed = tasks.filter(({ failure }) => failure?.reason === "field_missing");
      // Stored by a version that did not name the fields.
      if (failed.some(({ failure }) => (failure?.fields ?? []).length === 0)) return null;
      const isKnown = await store.pagesReadBefore(
        id,
        rules,
        failed.map(({ key }) => key),
      );
      for (const [index, { failure, url }] of failed.entries())
        if (isKnown[index] === true) counter.add(failure?.fields ?? [], url);
      left -= failed.length;
      after = tasks.at(-1)?.id;
      if (tasks.length < CHUNK) break;
      await setImmediate();
    }
    return counter.lost(facts.changes.changed + facts.changes.unchanged);
  }
}
