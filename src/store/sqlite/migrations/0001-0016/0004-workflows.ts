import type { DatabaseSync } from "node:sqlite";
import { TASK_STATES } from "../../../../domain/run/states.ts";
import { neverReuseNumbers } from "../../never-reuse-numbers.ts";
import { keepTransitions } from "../../transitions.ts";

/** Workflows: runs whose tasks are steps with dependencies. */
export const workflows = {
  version: 4,
  name: "workflows",
  up(db: DatabaseSync): void {
    // The lanes of steps are removed with them; a former owner must not seem to own another lane with the same number.
    neverReuseNumbers(db, "lanes", "id");
    db.exec(`
      -- What a workflow has beside its run. Sums change with what they sum up: nobody counts all steps.
      CREATE TABLE workflows (
        run INTEGER PRIMARY KEY,
        name TEXT NOT NULL, total_steps INTEGER NOT NULL, metadata TEXT NOT NULL,
        recovery_attempts INTEGER NOT NULL DEFAULT 0, max_recovery_attempts INTEGER NOT NULL,
        -- The index of the step that a recovery begins with; null: it does all again that did not end well.
        recover_from INTEGER,
        template TEXT, template_version INTEGER, rerun_of TEXT, likeness TEXT NOT NULL,
        weight REAL NOT NULL, weight_done REAL NOT NULL DEFAULT 0,
        error_message TEXT, last_checkpoint INTEGER, updated_at INTEGER NOT NULL
      );
      CREATE INDEX workflows_by_template ON workflows (template, run) WHERE template IS NOT NULL;
      CREATE INDEX workflows_by_likeness ON workflows (likeness, run);
      CREATE INDEX workflows_by_name ON workflows (name, run);

      -- What it was started with may be long, and is read by few: who looks at a run, or changes it, is not to carry it along.
      CREATE TABLE workflow_snapshots (run INTEGER PRIMARY KEY, snapshot TEXT NOT NULL);

      CREATE TABLE steps (
        task INTEGER PRIMARY KEY,
        run INTEGER NOT NULL, idx INTEGER NOT NULL,
        name TEXT NOT NULL, kind TEXT NOT NULL, dependencies TEXT NOT NULL,
        -- Dependencies that have not ended well yet.
        open_deps INTEGER NOT NULL CHECK (open_deps >= 0),
        max_retries INTEGER NOT NULL, estimated_ms INTEGER, weight REAL NOT NULL,
        started_at INTEGER, updated_at INTEGER NOT NULL,
        progress REAL NOT NULL DEFAULT 0, progress_message TEXT,
        -- Of a step that is done once for every entry of a list: which list, and how far it is.
        list_hash TEXT, items_stream INTEGER, epoch INTEGER NOT NULL DEFAULT 0, stop_at_failure INTEGER NOT NULL DEFAULT 0,
        items_total INTEGER, items_in_hand INTEGER NOT NULL DEFAULT 0 CHECK (items_in_hand >= 0),
        items_completed INTEGER NOT NULL DEFAULT 0, items_failed INTEGER NOT NULL DEFAULT 0,
        items_skipped INTEGER NOT NULL DEFAULT 0
      );
      CREATE UNIQUE INDEX steps_by_run ON steps (run, idx);
      CREATE UNIQUE INDEX steps_by_name ON steps (run, name);
      -- Which step is waited for by which others, both as numbers of tasks.
      CREATE TABLE step_edges (
        run INTEGER NOT NULL, step INTEGER NOT NULL, follower INTEGER NOT NULL, PRIMARY KEY (run, step, follower)
      ) WITHOUT ROWID;

      -- Of steps, and entries of lists, that sleep and have a timeout: how much of it is left, and up to when it is counted.
      CREATE TABLE step_time (task INTEGER PRIMARY KEY, left_ms INTEGER NOT NULL, counted_at INTEGER NOT NULL);

      -- An entry of a step's list knows the step, and which of the lists that the step has had.
      ALTER TABLE tasks ADD COLUMN item_of INTEGER;
      ALTER TABLE tasks ADD COLUMN item_epoch INTEGER;
      CREATE INDEX tasks_items ON tasks (item_of, item_epoch, id) WHERE item_of IS NOT NULL;
      CREATE INDEX tasks_pending ON tasks (stream, id) WHERE state = ${TASK_STATES.indexOf("pending")};

      -- The step that waits for a run, by its task, and in which generation of the workflow it was started.
      ALTER TABLE runs ADD COLUMN parent_run INTEGER;
      ALTER TABLE runs ADD COLUMN parent_task INTEGER;
      ALTER TABLE runs ADD COLUMN parent_generation INTEGER;
      CREATE INDEX runs_by_parent_task ON runs (parent_task, n) WHERE parent_task IS NOT NULL;
      CREATE INDEX runs_by_parent ON runs (parent_run, n) WHERE parent_run IS NOT NULL;
      CREATE INDEX runs_live_children ON runs (parent_run) WHERE parent_run IS NOT NULL AND finished_at IS NULL;
      -- The crawls of a workflow stay as long as it does.
      DROP INDEX runs_expiring;
      CREATE INDEX runs_expiring ON runs (finished_at)
        WHERE kind = 'crawl' AND job IS NULL AND parent_run IS NULL AND removing_at IS NULL;

      CREATE TABLE templates (
        name TEXT NOT NULL, version INTEGER NOT NULL, definition TEXT NOT NULL, created_at INTEGER NOT NULL,
        PRIMARY KEY (name, version)
      ) WITHOUT ROWID;
    `);
    keepTransitions(db);
  },
};
