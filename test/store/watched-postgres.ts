/** The methods of the store on a connection that remembers what it was asked, and how Postgres finds it. */
import { once } from "node:events";
import { type MessagePort, Worker } from "node:worker_threads";
import pg from "pg";
import { PostgresConnection } from "../../src/store/postgres/connection.ts";
import { type Batch, createChannel, type Request, type WireValue } from "../../src/store/postgres/sync-channel.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import type { StoreMethods } from "../../src/store/ports/access.ts";
import { storeMethods } from "../../src/store/sql/store.ts";

const SCHEMA = "orbweaver";

/** A step of a plan that looks at a table. */
export interface Look {
  how: string;
  table: string;
  index: string | null;
  /** Whether the index leads to some of the rows, or all of it is read. */
  sought: boolean;
  /** It ends with the first rows that are wanted. */
  limited: boolean;
}

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  Plans?: PlanNode[];
}

export class WatchedPostgres implements AsyncDisposable {
  readonly methods: StoreMethods;
  readonly admin: pg.Client;
  readonly #connection: PostgresConnection;
  readonly #wire: Worker;
  #asked = new Map<string, Request>();

  private constructor(url: string, admin: pg.Client) {
    this.admin = admin;
    const { asking, answering } = createChannel();
    const channels = [{ end: answering, readOnly: false }];
    const workerData = { url, schema: SCHEMA, channels, role: "wire" };
    this.#wire = new Worker(new URL("../../src/store/postgres/thread-start.ts", import.meta.url), {
      workerData,
      transferList: [answering.port],
    });
    this.#listenTo(asking.port);
    this.#connection = new PostgresConnection(asking, SCHEMA);
    migrate(this.#connection, SCHEMA);
    const row = this.#connection.sql("SELECT value FROM meta WHERE name = 'instance'").get();
    this.methods = storeMethods({
      connection: this.#connection,
      instance: String(row?.["value"]),
      singleEngine: false,
      leaseNow: () => this.#connection.now(),
      wallNow: () => 0,
    });
  }

  static async open(url: string): Promise<WatchedPostgres> {
    const admin = new pg.Client({
      connectionString: url,
      options: `-c search_path=${SCHEMA} -c random_page_cost=1.1 -c jit=off`,
    });
    await admin.connect();
    return new WatchedPostgres(url, admin);
  }

  #listenTo(port: MessagePort): void {
    const send = port.postMessage.bind(port);
    port.postMessage = (batch: Batch) => {
      for (const request of batch.requests)
        if (/^(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(request.text.trimStart()))
          this.#asked.set(request.text, request);
      send(batch);
    };
  }

  /** What was asked since the last time, each with values that it was asked with. */
  takeAsked(): Request[] {
    const list = [...this.#asked.values()];
    this.#asked = new Map();
    return list;
  }

  /** By a plan for any values, as it is kept for a prepared statement, or by one for these. */
  async looks({ text, values }: Request, plan: "generic" | "custom"): Promise<Look[]> {
    await this.admin.query(`SET plan_cache_mode = force_${plan}_plan; PREPARE asked AS ${text}`);
    const given = values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;
    try {
      const { rows } = await this.admin.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
        `EXPLAIN (FORMAT JSON) EXECUTE asked${given}`,
      );
      return looksOf((rows[0] as (typeof rows)[0])["QUERY PLAN"][0].Plan, false);
    } finally {
      await this.admin.query("DEALLOCATE asked");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close();
    await this.admin.end();
    const ended = once(this.#wire, "exit");
    this.#wire.postMessage("close");
    await ended;
  }
}

function looksOf(node: PlanNode, limited: boolean): Look[] {
  const below = (node.Plans ?? []).flatMap((one) => looksOf(one, limited || node["Node Type"] === "Limit"));
  const table = node["Relation Name"] ?? (node["Node Type"] === "Bitmap Index Scan" ? "" : undefined);
  if (table === undefined || node["Node Type"] === "ModifyTable") return below;
  const index = node["Index Name"] ?? null;
  return [{ how: node["Node Type"], table, index, sought: node["Index Cond"] !== undefined, limited }, ...below];
}

function literal(value: WireValue): string {
  return value === null ? "NULL" : `'${wordOf(value).replaceAll("'", "''")}'`;
}

function wordOf(value: WireValue): string {
  if (Array.isArray(value)) {
    const words = value.map((one: WireValue) => (one === null ? "NULL" : JSON.stringify(wordOf(one))));
    return `{${words.join(",")}}`;
  }
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : String(value);
}
