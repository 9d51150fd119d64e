/** Chooses pages of a run that are kept: for tests of the job's rules, and to repair these if they break. */
import { hash } from "node:crypto";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Seal } from "../../base/seal.ts";
import type { Handled } from "../../domain/run/outcome.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import {
  FIXTURE_LIMITS,
  type KeptFixture,
  type KeptPage,
  type PageFixture,
  replacedFixtures,
} from "../../domain/page/fixture.ts";
import type { EvidenceStore } from "../../pages/evidence.ts";
import {
  bodyFormOf,
  countFilled,
  goodRecords,
  rulesFingerprint,
  SEALED_FOR_FIXTURE,
  whyNoFixtures,
} from "../../pages/fixture.ts";
import type { PageGot } from "../../pages/get-page.ts";
import type { Store } from "../../store/ports/port.ts";

/** Stores the file of a fixture; null: it could not be stored. */
export type FixtureWriter = (bytes: Buffer) => Promise<{ hash: string; size: number } | null>;

/** Per transaction. */
const MOST_RECORDED = 1000;

/** Records orphaned files. Calls that come in while others are being recorded share one transaction. */
class OrphanLog {
  readonly #store: Pick<Store, "recordOrphanedFiles">;
  #next: { hashes: Set<string>; recorded: Promise<void> } | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<Store, "recordOrphanedFiles">) {
    this.#store = store;
  }

  /** Resolves when it is on record. */
  record(name: string): Promise<void> {
    if (this.#next === null || this.#next.hashes.size >= MOST_RECORDED) this.#next = this.#group();
    this.#next.hashes.add(name);
    return this.#next.recorded;
  }

  #group(): { hashes: Set<string>; recorded: Promise<void> } {
    const hashes = new Set<string>();
    const group = { hashes, recorded: this.#last.then(() => this.#write(hashes)) };
    // The next group goes on, whatever becomes of this one.
    this.#last = group.recorded.catch(() => {});
    return group;
  }

  #write(hashes: ReadonlySet<string>): Promise<void> {
    if (this.#next?.hashes === hashes) this.#next = null;
    return this.#store.recordOrphanedFiles([...hashes]);
  }
}

/**
 * The file is recorded as orphaned before it is written, so that a process that dies before the row is written leaves
 * nothing that the sweep does not remove.
 */
export function fixtureWriter(
  store: Pick<Store, "recordOrphanedFiles">,
  artifacts: EvidenceStore,
  log: Log,
): FixtureWriter {
  const orphans = new OrphanLog(store);
  return async (bytes) => {
    try {
      await orphans.record(hash("sha256", bytes, "hex"));
      const writer = artifacts.writer();
      await writer.write(bytes);
      const { hash: name, size } = await writer.finish();
      return { hash: name, size };
    } catch (error) {
      // The page's records matter more than its copy.
      log.warn("cannot store a page for tests of its job", { error: messageOf(error) });
      return null;
    }
  };
}

interface RunFixturesDeps {
  store: Pick<Store, "fixtures">;
  seal: Seal;
  keepFixture: FixtureWriter;
}

interface FixtureRun {
  id: string;
  kind: string;
  jobId: string | null;
  /** The session that was supplied for this run alone. */
  sessionId?: string | null;
}

/** Writes per run and process, whatever its pages are like. */
const MAX_WRITES = 25;
/** Pages that are kept besides those with a saved version: with values, and without any. */
const MAX_OTHERS = { filled: 12, empty: 6 } as const;
/** Pages with a saved version that lack a required field now. */
const MAX_FAILED = 12;

/** The job's own setting may be changed meanwhile; the store decides again. */
interface KnownSet {
  limit: number;
  kept: KeptFixture[];
  /** URLs of pages that the rules read well in earlier runs. */
  before: ReadonlySet<string>;
  /** Every page is kept, to be read again by repaired rules. */
  autoRepair: boolean;
}

/** Decides in memory; a crawl of many pages writes a few of them. */
export class RunFixtures {
  readonly #deps: RunFixturesDeps;
  readonly #run: FixtureRun & { jobId: string };
  readonly #recipe: Recipe;
  readonly #rules: string;
  readonly #isSecret: boolean;
  #known: Promise<KnownSet | null> | null = null;
  #writes = 0;
  readonly #others = { filled: 0, empty: 0 };
  #failed = 0;

  /** Null: the run has no job, or no rules to test. */
  static of(deps: RunFixturesDeps, run: FixtureRun, recipe: Recipe): RunFixtures | null {
    const { jobId } = run;
    return jobId === null || whyNoFixtures(recipe) !== null ? null : new RunFixtures(deps, { ...run, jobId }, recipe);
  }

  private constructor(deps: RunFixturesDeps, run: FixtureRun & { jobId: string }, recipe: Recipe) {
    this.#deps = deps;
    this.#run = run;
    this.#recipe = recipe;
    this.#rules = rulesFingerprint(recipe);
    this.#isSecret = isFetchedWithSecrets(recipe) || (run.sessionId ?? null) !== null;
  }

  /**
   * The outcome of a completed page, with the page as a fixture if it is chosen, and as a page of its run. A page that
   * lacks a required field and had it before is a page of its run, too: it may show what broke the rule.
   */
  async with(handled: Handled, got: PageGot): Promise<Handled> {
    const isCompleted = handled.kind === "completed";
    if (!isCompleted && !(handled.kind === "failed" && handled.failure.reason === "field_missing")) return handled;
    const fixture = !isCompleted || this.#writes >= MAX_WRITES ? null : await this.#choose(got);
    const page = await this.#copyOf(got);
    if (fixture === null && page === null) return handled;
    const report = {
      ...handled.report,
      ...(fixture === null ? {} : { fixture }),
      ...(page === null ? {} : { keptPage: page }),
    };
    return { ...handled, report };
  }

  /**
   * Kept until the records of the run are compared: what rules broke is known only then. Without a page that the rules
   * read well before there is nothing to repair them by.
   */
  async #copyOf({ answer, judgement, failure }: PageGot): Promise<KeptPage | null> {
    if (answer === null || judgement === null || answer.replayed === true) return null;
    if (failure !== null && failure.reason !== "field_missing") return null;
    // One record per run is never compared.
    if (this.#run.kind === "page" && this.#recipe.items === null) return null;
    const { body, finalUrl: url, contentType } = answer;
    if (Buffer.byteLength(body) > FIXTURE_LIMITS.pageBytes) return null;
    const known = await this.#set();
    if (known === null || known.before.size === 0) return null;
    if (failure !== null) {
      // Pages that always fail say nothing about the rule.
      if (!known.before.has(url) || this.#failed >= MAX_FAILED) return null;
      this.#failed += 1;
    } else if (!known.before.has(url) && !known.autoRepair) {
      const kind = countFilled(judgement.read, this.#recipe) > 0 ? "filled" : "empty";
      if (this.#others[kind] >= MAX_OTHERS[kind]) return null;
      this.#others[kind] += 1;
    }
    const file = await this.#deps.keepFixture(this.#sealed(Buffer.from(body as string)));
    return file === null ? null : { url, ...file, contentType, form: bodyFormOf(answer), isSealed: this.#isSecret };
  }

  async #choose(got: PageGot): Promise<PageFixture | null> {
    const good = goodRecords(got);
    if (good === null) return null;
    const { body, finalUrl: url, contentType } = good.answer;
    const bodyBytes = Buffer.byteLength(body);
    if (bodyBytes > FIXTURE_LIMITS.pageBytes) return null;
    const known = await this.#set();
    const filled = countFilled(good.records, this.#recipe);
    const facts = { url, size: bodyBytes, filled, rules: this.#rules, runId: this.#run.id };
    const replaced = known === null ? null : replacedFixtures(known.kept, facts, known.limit);
    if (known === null || replaced === null) return null;
    const json = JSON.stringify(good.records);
    if (json.length > FIXTURE_LIMITS.recordBytes) return null;
    // Before the file is written: other pages are decided meanwhile.
    const number = Number.MAX_SAFE_INTEGER - MAX_WRITES + this.#writes++;
    known.kept = known.kept.filter((fixture) => !replaced.includes(fixture.number));
    known.kept.push({ ...facts, number, fetchedAt: Number.MAX_SAFE_INTEGER });
    const file = await this.#deps.keepFixture(this.#sealed(Buffer.from(body as string)));
    if (file === null) return null;
    return {
      url,
      ...file,
      filled,
      rules: this.#rules,
      contentType,
      form: bodyFormOf(good.answer),
      recordCount: good.records.length,
      records: this.#isSecret ? this.#sealed(Buffer.from(json)).toString("base64") : json,
      isSealed: this.#isSecret,
    };
  }

  #set(): Promise<KnownSet | null> {
    const { store } = this.#deps;
    this.#known ??= store.fixtures(this.#run.jobId).then((found) => {
      if (found === null) return null;
      const { limit, list, autoRepair } = found;
      const isBefore = ({ rules, runId }: KeptFixture) => rules === this.#rules && runId !== this.#run.id;
      const before = new Set(list.filter(isBefore).map(({ url }) => url));
      return { limit, kept: [...list], before, autoRepair };
    });
    return this.#known;
  }

  #sealed(bytes: Buffer): Buffer {
    if (!this.#isSecret) return bytes;
    return Buffer.from(this.#deps.seal.close(bytes.toString("base64"), SEALED_FOR_FIXTURE));
  }
}

/** Such a page may show what only its user should see. */
export function isFetchedWithSecrets({ session_id, sealed, requires_auth, browser }: Recipe): boolean {
  const types = (browser?.actions ?? []).some((action) => action.type === "write" && action.secret === true);
  return session_id !== null || sealed !== null || requires_auth || types;
}
