/** Profiles of the records of a job's runs, and what got worse. */
export const runHealth = {
  version: 17,
  name: "run-health",
  // Programs of the version before would remove runs and leave their profiles.
  olderMayRun: false,
  up: () => `
    CREATE TABLE run_health (
      run BIGINT PRIMARY KEY, job TEXT COLLATE "C" NOT NULL, generation BIGINT NOT NULL, ended_at BIGINT NOT NULL,
      rules TEXT COLLATE "C" NOT NULL, profile TEXT COLLATE "C" NOT NULL, reasons TEXT COLLATE "C",
      compared_with BIGINT NOT NULL, baseline BIGINT NOT NULL, accepted_at BIGINT
    );
    CREATE INDEX run_health_by_job ON run_health (job, run);
    ALTER TABLE runs ADD COLUMN health_generation BIGINT NOT NULL DEFAULT 0;
    UPDATE runs SET health_generation = generation WHERE finished_at IS NOT NULL;
    CREATE INDEX runs_without_health ON runs (n) WHERE health_generation < generation AND job IS NOT NULL
      AND kind IN ('page', 'crawl') AND status IN ('completed', 'partial') AND removing_at IS NULL;
    ALTER TABLE jobs ADD COLUMN on_degraded TEXT COLLATE "C";
    INSERT INTO meta VALUES ('degraded_runs', '0');
  `,
};
