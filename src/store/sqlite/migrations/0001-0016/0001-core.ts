import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { RUN_STATES, TASK_STATES } from "../../../../domain/run/states.ts";
import { keepTransitions } from "../../transitions.ts";

const state = (name: (typeof TASK_STATES)[number]) => TASK_STATES.indexOf(name);

export const core = {
  version: 1,
  name: "core",
  up(db: DatabaseSync): void {
    db.exec(`
      CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      INSERT INTO meta VALUES ('instance', '${randomUUID()}');

      -- One row: which process is the engine. lease_until counts on the machine's monotonic clock.
      CREATE TABLE engine (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        holder TEXT, epoch INTEGER NOT NULL, lease_until REAL NOT NULL,
        boot TEXT, pid INTEGER, pid_start TEXT, address TEXT
      );
      INSERT INTO engine VALUES (1, NULL, 0, 0, NULL, NULL, NULL, NULL);

      CREATE TABLE control (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL);
      INSERT INTO control VALUES (1, 1);

      CREATE TABLE runs (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        alias TEXT UNIQUE,
        status TEXT NOT NULL CHECK (status IN (${RUN_STATES.map((name) => `'${name}'`).join(", ")})),
        generation INTEGER NOT NULL DEFAULT 1,
        open_streams INTEGER NOT NULL DEFAULT 0 CHECK (open_streams >= 0),
        max_attempts INTEGER,
        snapshot TEXT NOT NULL,
        message TEXT,
        last_seq INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER
      );

      CREATE TABLE events (
        n INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL, seq INTEGER NOT NULL, generation INTEGER NOT NULL,
        terminal INTEGER NOT NULL DEFAULT 0,
        level TEXT NOT NULL, message TEXT NOT NULL, meta TEXT, created_at INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX events_by_run ON events (run, seq);
      -- A second end of one generation cannot be written.
      CREATE UNIQUE INDEX events_terminal ON events (run, generation) WHERE terminal = 1;

      CREATE TABLE lanes (
        id INTEGER PRIMARY KEY,
        lane TEXT NOT NULL UNIQUE,
        owner TEXT, epoch INTEGER NOT NULL DEFAULT 0, lease_until REAL NOT NULL DEFAULT 0
      );
      CREATE INDEX lanes_owned ON lanes (owner) WHERE owner IS NOT NULL;

      CREATE TABLE sites (
        site TEXT PRIMARY KEY,
        lane INTEGER NOT NULL,
        max_concurrency INTEGER, requests_per_second REAL, burst INTEGER, min_delay_ms INTEGER,
        paused INTEGER NOT NULL DEFAULT 0,
        hold_until INTEGER NOT NULL DEFAULT 0, hold_step INTEGER NOT NULL DEFAULT 0,
        breaker_failures INTEGER NOT NULL DEFAULT 0, breaker_open_until INTEGER, breaker_failed_probes INTEGER NOT NULL DEFAULT 0
      ) WITHOUT ROWID;
      CREATE INDEX sites_by_lane ON sites (lane);

      -- What one run has to do in one lane under one resolver. Its counters change with the tasks they count.
      CREATE TABLE streams (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL, lane INTEGER NOT NULL, resolver TEXT NOT NULL DEFAULT '',
        ${TASK_STATES.map((name) => `${name} INTEGER NOT NULL DEFAULT 0 CHECK (${name} >= 0)`).join(",\n        ")}
      );
      CREATE UNIQUE INDEX streams_by_run ON streams (run, lane, resolver);
      CREATE INDEX streams_by_lane ON streams (lane);
      CREATE INDEX streams_open ON streams (lane) WHERE queued > 0 OR running > 0 OR retrying > 0;

      CREATE TABLE tasks (
        id INTEGER PRIMARY KEY,
        stream INTEGER NOT NULL,
        state INTEGER NOT NULL CHECK (state BETWEEN 0 AND ${TASK_STATES.length - 1}),
        priority INTEGER NOT NULL DEFAULT 0,
        tries INTEGER NOT NULL DEFAULT 0,
        waits INTEGER NOT NULL DEFAULT 0,
        ready_at INTEGER NOT NULL DEFAULT 0,
        created_at INTEGER NOT NULL,
        ended_at INTEGER,
        key_hash BLOB NOT NULL,
        key TEXT NOT NULL,
        url TEXT, next_url TEXT, handler TEXT, payload TEXT,
        attempts TEXT, outcome TEXT
      );
      -- 16 bytes of a hash of run and key instead of the key itself: a third of the bytes, no slower.
      CREATE UNIQUE INDEX tasks_by_key ON tasks (key_hash);
      -- Partial indexes hold only what is waiting, so a claim costs the same among a thousand and a million tasks.
      CREATE INDEX tasks_queued ON tasks (stream, priority DESC, id) WHERE state = ${state("queued")};
      CREATE INDEX tasks_running ON tasks (stream) WHERE state = ${state("running")};
      CREATE INDEX tasks_retrying ON tasks (stream, ready_at) WHERE state = ${state("retrying")};
      CREATE INDEX tasks_failed ON tasks (stream, id) WHERE state = ${state("failed")};

      CREATE TABLE artifacts (
        n INTEGER PRIMARY KEY,
        task INTEGER NOT NULL, ordinal INTEGER NOT NULL,
        hash BLOB NOT NULL, size INTEGER NOT NULL, content_type TEXT, url TEXT NOT NULL, created_at INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX artifacts_by_task ON artifacts (task, ordinal);

      CREATE TABLE results (
        n INTEGER PRIMARY KEY,
        task INTEGER NOT NULL, ordinal INTEGER NOT NULL, data TEXT NOT NULL, created_at INTEGER NOT NULL
      );
      CREATE UNIQUE INDEX results_by_task ON results (task, ordinal);

      -- Caps that cross lanes, and who has borrowed how much of them.
      CREATE TABLE budgets (key TEXT PRIMARY KEY, cap INTEGER) WITHOUT ROWID;
      CREATE TABLE loans (
        key TEXT NOT NULL, owner TEXT NOT NULL, units INTEGER NOT NULL CHECK (units > 0),
        PRIMARY KEY (key, owner)
      ) WITHOUT ROWID;
    `);
    keepTransitions(db);
  },
};
