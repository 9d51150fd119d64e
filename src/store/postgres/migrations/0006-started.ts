/** Lists of runs without a parent skip the child runs of workflows. */
export const started = {
  version: 6,
  name: "started",
  up: () => `
      CREATE INDEX runs_started ON runs (n) WHERE parent_run IS NULL;
      CREATE INDEX runs_started_by_status ON runs (status, n) WHERE parent_run IS NULL
  `,
};
