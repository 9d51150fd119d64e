import type { DatabaseSync } from "node:sqlite";
import { keepTransitions } from "../transitions.ts";

/**
 * Renames tables and columns to standard terms. Rows stay as they are, except for stored responses about jobs; rebuilds
 * five small indexes.
 */
export const renames = {
  version: 24,
  name: "renames",
  breaksOlder: true,
  up(db: DatabaseSync): void {
    db.exec(`
      DROP INDEX answers_by_age;
      DROP INDEX answers_by_made;
      ALTER TABLE answers RENAME TO idempotency_keys;
      ALTER TABLE idempotency_keys RENAME COLUMN answer TO response;
      -- An answer is a record as it was: its key has the name that the record's has.
      UPDATE idempotency_keys
      SET response = json_set(json_remove(response, '$.nextSlot'), '$.nextOccurrenceAt', json_extract(response, '$.nextSlot'))
      WHERE json_type(response, '$.nextSlot') IS NOT NULL;
      CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
      CREATE INDEX idempotency_keys_by_response_id ON idempotency_keys (json_extract(response, '$.id'));

      ALTER TABLE slots RENAME TO schedule_occurrences;
      ALTER TABLE slot_counts RENAME TO schedule_outcome_counts;
      ALTER TABLE jobs RENAME COLUMN next_slot TO next_occurrence_at;

      ALTER TABLE loose_files RENAME TO orphaned_files;
      ALTER TABLE aliases RENAME TO page_aliases;
      ALTER TABLE crawl_pace RENAME TO crawl_throughput;
      ALTER TABLE crawl_throughput RENAME COLUMN slot TO bucket;
      ALTER TABLE loans RENAME TO budget_permits;
      UPDATE budget_permits SET key = 'waiting:' || substr(key, 6) WHERE key LIKE 'wish:%';
      ALTER TABLE task_stops RENAME COLUMN asked_at TO requested_at;
      ALTER TABLE step_time RENAME TO step_timers;
      ALTER TABLE step_timers RENAME COLUMN left_ms TO remaining_ms;
      ALTER TABLE step_timers RENAME COLUMN counted_at TO updated_at;
      ALTER TABLE step_edges RENAME COLUMN follower TO dependent;
      ALTER TABLE steps RENAME COLUMN items_in_hand TO items_in_flight;
      ALTER TABLE run_deletions RENAME COLUMN upto TO max_run;
      ALTER TABLE run_deletions RENAME COLUMN done_to TO last_processed_run;

      ALTER TABLE runs RENAME COLUMN pages_in_hand TO pages_in_flight;
      -- What is recorded when one of its pages, or the run itself, ends: calls of a webhook, pages that may be reused.
      ALTER TABLE runs RENAME COLUMN told TO completion_hooks;
      ALTER TABLE runs RENAME COLUMN brief TO temporary;
      -- For how long it has made no progress, as JSON.
      ALTER TABLE runs RENAME COLUMN fruitless TO stall;
      -- The newest event when it began, and when work was first open: what came first is told by these numbers, not by clocks.
      ALTER TABLE runs RENAME COLUMN began_at TO start_event;
      ALTER TABLE streams RENAME COLUMN opened_at TO opened_event;
      ALTER TABLE streams RENAME COLUMN aside TO auxiliary;

      ALTER TABLE sites RENAME COLUMN split TO shard_count;
      ALTER TABLE sites RENAME COLUMN split_due TO target_shard_count;
      DROP INDEX lanes_of_home;
      ALTER TABLE lanes RENAME COLUMN home TO parent_lane;
      CREATE INDEX lanes_by_parent ON lanes (parent_lane, shard) WHERE parent_lane IS NOT NULL;
      DROP INDEX site_deps_by_needs;
      ALTER TABLE site_deps RENAME COLUMN needs TO depends_on;
      CREATE INDEX site_deps_by_dependency ON site_deps (depends_on, site);
      ALTER TABLE robots RENAME COLUMN got_at TO fetched_at;
      ALTER TABLE robots RENAME COLUMN bytes_so_far TO cumulative_bytes;
      ALTER TABLE reusable_pages RENAME COLUMN got_at TO fetched_at;
      ALTER TABLE page_copies RENAME COLUMN rest TO payload;
      ALTER TABLE page_states RENAME COLUMN reach TO scope_hash;
      ALTER TABLE page_states RENAME COLUMN moved TO redirected;
      ALTER TABLE proxy_sites RENAME COLUMN noted_at TO updated_at;
      DROP INDEX workflows_by_likeness;
      ALTER TABLE workflows RENAME COLUMN likeness TO similarity_key;
      CREATE INDEX workflows_by_similarity ON workflows (similarity_key, run);

      ALTER TABLE workers RENAME COLUMN pulse TO heartbeat;
      ALTER TABLE workers RENAME COLUMN heard_at TO heartbeat_at;
      -- On the clock of leases.
      ALTER TABLE workers RENAME COLUMN heard_lease TO heartbeat_lease_at;
      ALTER TABLE workers RENAME COLUMN drain_asked TO drain_requested;
    `);
    keepTransitions(db);
  },
};
