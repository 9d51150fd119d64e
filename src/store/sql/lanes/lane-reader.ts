/** What a claim reads of a lane. */
import type { ClaimOptions } from "../../ports/claim-port.ts";
import type { Query, Value } from "../kernel/connection.ts";
import { HAS_QUOTA, RUN_MAY_WORK } from "../kernel/context.ts";
import { JOIN_WAITS, SITE_MAY_WORK, WITH_WAITS_OF_LANE } from "../sites/site-deps.ts";
import type { Sharing } from "./claim-shares.ts";
import { FIRST_RETRY, STREAM_IS_OPEN } from "./lanes.ts";

export interface StreamRow extends Sharing {
  resolver: string;
  retrying: number;
  run_id: string;
  kind: string;
  status: string;
  generation: number;
  max_attempts: number | null;
  timed: number;
}

/** Due retries are moved in batches: a flood of them must not make one long transaction. */
const WAKE_STREAMS = 100;

/** Streams of a lane with tasks that wait for a retry. */
const RETRYING = `FROM streams s JOIN runs r ON r.n = s.run ${JOIN_WAITS}
  WHERE s.lane = ? AND ${STREAM_IS_OPEN} AND s.retrying > 0 AND ${RUN_MAY_WORK} AND ${SITE_MAY_WORK}`;

const DUE_RETRIES = `${RETRYING} AND ${FIRST_RETRY} <= ? LIMIT ${WAKE_STREAMS}`;

/** When the first retry of a lane is ready. */
export const NEXT_RETRY = `${WITH_WAITS_OF_LANE} SELECT min(${FIRST_RETRY}) AS at ${RETRYING}`;

/** Does not start a page that would exceed the run's time limit. */
const HAS_TIME_LEFT =
  "(r.time_limit_ms IS NULL OR r.running_since IS NULL OR r.ran_ms + ? - r.running_since + r.page_ms < r.time_limit_ms)";

const READY_STREAMS = `FROM streams s JOIN runs r ON r.n = s.run ${JOIN_WAITS}
  WHERE s.lane = ? AND ${RUN_MAY_WORK} AND ${HAS_TIME_LEFT} AND ${HAS_QUOTA} AND ${SITE_MAY_WORK}
    AND s.queued > 0 AND s.resolver NOT IN (SELECT value FROM json_each(?))`;

const STREAM_COLUMNS = `s.id, s.run, s.site, s.resolver, s.auxiliary, s.queued, s.running, s.retrying, r.open_streams,
  r.id AS run_id, r.kind, r.status, r.generation, r.max_attempts, r.time_limit_ms IS NOT NULL AS timed,
  r.pages_limit - r.pages_counted - r.pages_in_flight AS quota_left`;

/**
 * Streams per claim. Ten thousand runs may wait for one site: each claim serves the next few of them, so that it takes
 * some milliseconds, and no run is marked running long before its turn.
 */
export const STREAMS_PER_CLAIM = 32;

/**
 * The texts of a claim's queries, made once: SQLite looks up its prepared statement by the text, and a text that is put
 * together anew for each claim is hashed anew.
 */
function queriesOf(ready: string) {
  const runs = (which: string, name: string) =>
    `SELECT run AS n FROM (SELECT s.run ${ready} AND s.run ${which} ? ORDER BY s.run LIMIT ?) AS ${name}`;
  const streams = (which: string) =>
    `${WITH_WAITS_OF_LANE} SELECT ${STREAM_COLUMNS} ${ready} AND s.run ${which} ? ORDER BY s.run LIMIT ?`;
  return {
    runs: `${WITH_WAITS_OF_LANE} ${runs(">", "ready")} UNION ${runs("<=", "wrapped")}
      UNION SELECT run AS n FROM (SELECT s.run ${DUE_RETRIES}) AS due`,
    behind: streams(">"),
    upTo: streams("<="),
  };
}

const ANY_RUN = queriesOf(READY_STREAMS);
const WITHOUT_DEADLINE = queriesOf(`${READY_STREAMS} AND r.time_limit_ms IS NULL`);
const SELECT_DUE_RETRIES = `${WITH_WAITS_OF_LANE} SELECT s.id, s.run ${DUE_RETRIES}`;

/** What a claim reads of a lane: due retries, and streams with ready tasks, starting after the run that was served last. */
export class LaneReader {
  readonly #lane: number;
  readonly #last: number;
  readonly #now: number;
  readonly #values: Value[];
  readonly #queries: typeof ANY_RUN;

  constructor(
    lane: number,
    last: number,
    { withoutResolvers = [], withoutDeadline = false }: ClaimOptions,
    now: number,
  ) {
    this.#lane = lane;
    this.#last = last;
    this.#now = now;
    this.#values = [lane, now, JSON.stringify(withoutResolvers), last, STREAMS_PER_CLAIM];
    this.#queries = withoutDeadline ? WITHOUT_DEADLINE : ANY_RUN;
  }

  /** The runs that the claim may touch. */
  runs(): Query {
    return {
      text: this.#queries.runs,
      values: [this.#lane, ...this.#values, ...this.#values, this.#lane, this.#now],
    };
  }

  dueRetries(): Query {
    return { text: SELECT_DUE_RETRIES, values: [this.#lane, this.#lane, this.#now] };
  }

  /** Behind the last served run, and from the first run up to it. */
  readyStreams(): Query[] {
    const values = [this.#lane, ...this.#values];
    const behind = { text: this.#queries.behind, values };
    return this.#last === 0 ? [behind] : [behind, { text: this.#queries.upTo, values }];
  }
}
