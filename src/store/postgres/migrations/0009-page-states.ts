/** Page states that saved crawls keep from run to run, and the changes that each run found. */
export const pageStates = {
  version: 9,
  name: "page-states",
  up: () => `
    CREATE TABLE page_states (
      job BIGINT NOT NULL, key_hash BYTEA NOT NULL, url TEXT COLLATE "C" NOT NULL,
      digest BYTEA NOT NULL, run BIGINT NOT NULL, reach BYTEA NOT NULL, moved BIGINT NOT NULL, PRIMARY KEY (job, key_hash)
    );
    CREATE TABLE page_changes (
      run BIGINT NOT NULL, key_hash BYTEA NOT NULL, change BIGINT NOT NULL, url TEXT COLLATE "C" NOT NULL,
      PRIMARY KEY (run, change, key_hash)
    );
  `,
};
