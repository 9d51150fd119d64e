import type { KeptFixture, KeptPage } from "../../domain/page/fixture.ts";

/** A page that a job keeps to test its rules on. */
export interface FixtureRecord extends KeptFixture, KeptPage {
  recordCount: number;
}

/** Store methods for the saved pages of jobs. A run's outcome writes them, and `updateJob` and `deleteJob` remove them. */
export interface FixtureStore {
  /** Newest first, and how many the job keeps; null: there is no such job. `autoRepair`: see `NewJob`. */
  fixtures(jobId: string): Promise<{ limit: number; list: FixtureRecord[]; autoRepair: boolean } | null>;
  /** The records of a fixture as they are stored: JSON, or base64 of sealed JSON; null: it is gone. */
  fixtureRecords(number: number): Promise<string | null>;
  /** Deletes one of the job's fixtures; false: it has none with this number. */
  deleteFixture(jobId: string, number: number): Promise<boolean>;
  /** Fixtures of all jobs by number, to check their files. */
  fixtureFiles(after: number, limit: number): Promise<Pick<FixtureRecord, "number" | "hash" | "size">[]>;
}
