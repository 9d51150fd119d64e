/** Page counts of crawls; written once per transaction. */
import { type GoalPage, NO_GOAL_PAGES, withGoalPage } from "../../../domain/crawl/goal-score.ts";
import { addSkips, type SkipCounts } from "../../../domain/crawl/crawl-skips.ts";
import type { RunFacts } from "../../../domain/run/run-facts.ts";
import type { SettledTask } from "../../ports/port.ts";
import { type Context, mergeFacts, parseJson } from "../kernel/context.ts";

interface Counted {
  unchanged: number;
  followedOnly: number;
  skipped: SkipCounts;
  signIns: number;
  signIn: string | null;
  goal: GoalPage[];
}

export class PageCounts {
  readonly #context: Context;
  readonly #runs = new Map<number, Counted>();

  constructor(context: Context) {
    this.#context = context;
  }

  completed(run: number, { report }: SettledTask): void {
    const change = report?.page?.change ?? (report?.unchanged === true ? "unchanged" : null);
    if (change === "unchanged") this.#of(run).unchanged += 1;
    if (report?.followedOnly === true) this.#of(run).followedOnly += 1;
    if (report?.goal !== undefined) this.#of(run).goal.push(report.goal);
  }

  /** Failed pages have links, too. */
  links(run: number, { report }: SettledTask): void {
    if (report?.skipped === undefined) return;
    const counted = this.#of(run);
    counted.skipped = addSkips(counted.skipped, report.skipped);
  }

  /** For fetched and for skipped pages. */
  signIn(run: number, { report }: SettledTask): void {
    if (report?.signIn === undefined) return;
    const counted = this.#of(run);
    counted.signIns += 1;
    counted.signIn = report.signIn;
  }

  /** Returns the runs that are saturated. */
  write(): ReadonlySet<number> {
    const saturated = new Set<number>();
    for (const [run, counted] of this.#runs) {
      const row = this.#context.connection.sql("SELECT facts FROM runs WHERE n = ?").get(run);
      const before = parseJson<RunFacts>((row?.["facts"] ?? null) as string | null, {});
      const facts: RunFacts = {};
      if (counted.unchanged > 0) facts.unchanged = (before.unchanged ?? 0) + counted.unchanged;
      if (counted.followedOnly > 0) facts.followed_only = (before.followed_only ?? 0) + counted.followedOnly;
      if (counted.signIn !== null)
        facts.sign_ins = { pages: (before.sign_ins?.pages ?? 0) + counted.signIns, message: counted.signIn };
      const skipped = addSkips(before.skipped ?? {}, counted.skipped);
      if (Object.keys(skipped).length > 0) facts.skipped = skipped;
      if (counted.goal.length > 0) facts.goal = counted.goal.reduce(withGoalPage, before.goal ?? NO_GOAL_PAGES);
      if (facts.goal?.saturated === true) saturated.add(run);
      mergeFacts(this.#context, run, facts);
    }
    return saturated;
  }

  #of(run: number): Counted {
    let counted = this.#runs.get(run);
    if (counted === undefined)
      this.#runs.set(
        run,
        (counted = { unchanged: 0, followedOnly: 0, skipped: {}, signIns: 0, signIn: null, goal: [] }),
      );
    return counted;
  }
}
