/**
 * Renames tables and columns to standard terms. Older programs know none of them and have to stop first. Rows stay as
 * they are, except for stored responses about jobs.
 */
export const renames = {
  version: 16,
  name: "renames",
  up: () => `
    ALTER TABLE answers RENAME TO idempotency_keys;
    ALTER TABLE idempotency_keys RENAME COLUMN answer TO response;
    -- An answer is a record as it was: its key has the name that the record's has.
    UPDATE idempotency_keys
    SET response = ((response::jsonb - 'nextSlot') || jsonb_build_object('nextOccurrenceAt', response::jsonb -> 'nextSlot'))::text
    WHERE CASE WHEN response LIKE '%"nextSlot":%' AND response NOT LIKE '%\\u0000%' THEN jsonb_exists(response::jsonb, 'nextSlot') END;
    ALTER INDEX answers_pkey RENAME TO idempotency_keys_pkey;
    ALTER INDEX answers_by_age RENAME TO idempotency_keys_by_age;
    ALTER INDEX answers_by_made RENAME TO idempotency_keys_by_response_id;

    ALTER TABLE slots RENAME TO schedule_occurrences;
    ALTER INDEX slots_pkey RENAME TO schedule_occurrences_pkey;
    ALTER TABLE slot_counts RENAME TO schedule_outcome_counts;
    ALTER INDEX slot_counts_pkey RENAME TO schedule_outcome_counts_pkey;
    ALTER TABLE jobs RENAME COLUMN next_slot TO next_occurrence_at;

    ALTER TABLE loose_files RENAME TO orphaned_files;
    ALTER INDEX loose_files_pkey RENAME TO orphaned_files_pkey;
    ALTER TABLE aliases RENAME TO page_aliases;
    ALTER INDEX aliases_pkey RENAME TO page_aliases_pkey;
    ALTER TABLE crawl_pace RENAME TO crawl_throughput;
    ALTER TABLE crawl_throughput RENAME COLUMN slot TO bucket;
    ALTER INDEX crawl_pace_pkey RENAME TO crawl_throughput_pkey;
    ALTER TABLE loans RENAME TO budget_permits;
    ALTER INDEX loans_pkey RENAME TO budget_permits_pkey;
    UPDATE budget_permits SET key = 'waiting:' || substr(key, 6) WHERE key LIKE 'wish:%';
    ALTER TABLE task_stops RENAME COLUMN asked_at TO requested_at;
    ALTER TABLE step_time RENAME TO step_timers;
    ALTER TABLE step_timers RENAME COLUMN left_ms TO remaining_ms;
    ALTER TABLE step_timers RENAME COLUMN counted_at TO updated_at;
    ALTER INDEX step_time_pkey RENAME TO step_timers_pkey;
    ALTER TABLE step_edges RENAME COLUMN follower TO dependent;
    ALTER TABLE steps RENAME COLUMN items_in_hand TO items_in_flight;
    ALTER TABLE steps RENAME CONSTRAINT steps_items_in_hand_check TO steps_items_in_flight_check;
    ALTER TABLE run_deletions RENAME COLUMN upto TO max_run;
    ALTER TABLE run_deletions RENAME COLUMN done_to TO last_processed_run;

    ALTER TABLE runs RENAME COLUMN pages_in_hand TO pages_in_flight;
    ALTER TABLE runs RENAME COLUMN told TO completion_hooks;
    ALTER TABLE runs RENAME COLUMN brief TO temporary;
    ALTER TABLE runs RENAME COLUMN fruitless TO stall;
    ALTER TABLE runs RENAME COLUMN began_at TO start_event;
    ALTER TABLE streams RENAME COLUMN opened_at TO opened_event;
    ALTER TABLE streams RENAME COLUMN aside TO auxiliary;
    ALTER TABLE streams RENAME CONSTRAINT streams_aside_check TO streams_auxiliary_check;

    ALTER TABLE sites RENAME COLUMN split TO shard_count;
    ALTER TABLE sites RENAME COLUMN split_due TO target_shard_count;
    ALTER TABLE lanes RENAME COLUMN home TO parent_lane;
    ALTER INDEX lanes_of_home RENAME TO lanes_by_parent;
    ALTER TABLE site_deps RENAME COLUMN needs TO depends_on;
    ALTER INDEX site_deps_by_needs RENAME TO site_deps_by_dependency;
    ALTER TABLE robots RENAME COLUMN got_at TO fetched_at;
    ALTER TABLE robots RENAME COLUMN bytes_so_far TO cumulative_bytes;
    ALTER TABLE reusable_pages RENAME COLUMN got_at TO fetched_at;
    ALTER TABLE page_copies RENAME COLUMN rest TO payload;
    ALTER TABLE page_states RENAME COLUMN reach TO scope_hash;
    ALTER TABLE page_states RENAME COLUMN moved TO redirected;
    ALTER TABLE proxy_sites RENAME COLUMN noted_at TO updated_at;
    ALTER TABLE workflows RENAME COLUMN likeness TO similarity_key;
    ALTER INDEX workflows_by_likeness RENAME TO workflows_by_similarity;

    ALTER TABLE workers RENAME COLUMN pulse TO heartbeat;
    ALTER TABLE workers RENAME COLUMN heard_at TO heartbeat_at;
    ALTER TABLE workers RENAME COLUMN heard_lease TO heartbeat_lease_at;
    ALTER TABLE workers RENAME COLUMN drain_asked TO drain_requested;

    ALTER TABLE alive RENAME TO crash_sentinel;
    ALTER TABLE crash_sentinel RENAME CONSTRAINT alive_one_check TO crash_sentinel_one_check;
    ALTER INDEX alive_pkey RENAME TO crash_sentinel_pkey;
    ALTER FUNCTION tell() RENAME TO notify_listeners;
    ALTER TRIGGER events_tell ON events RENAME TO events_notify;
    ALTER TRIGGER control_tell ON control RENAME TO control_notify;
    ALTER FUNCTION refuse_move() RENAME TO reject_transition;
    ALTER TRIGGER runs_move ON runs RENAME TO runs_transition;
    ALTER TRIGGER tasks_move ON tasks RENAME TO tasks_transition;
  `,
};
