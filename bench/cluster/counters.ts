import pg from "pg";
import { pause } from "./cluster.ts";

export interface Counted {
  /** All committed ones, including read-only ones. */
  transactions: number;
  /** Those that wrote. */
  writing: number;
  walBytes: number;
  /** Rows inserted, changed and deleted, by table. */
  rows: Map<string, number>;
  at: number;
}

/** Postgres' own statistics. */
export class Counters implements AsyncDisposable {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<Counters> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new Counters(client);
  }

  async read(): Promise<Counted> {
    // Connections report their statistics after a moment of idleness.
    await pause(1500);
    const [row] = await this.#ask(
      `SELECT xact_commit AS transactions, pg_current_wal_insert_lsn() - '0/0' AS wal,
         pg_snapshot_xmax(pg_current_snapshot())::text AS xid
       FROM pg_stat_database WHERE datname = current_database()`,
    );
    const tables = await this.#ask("SELECT relname, n_tup_ins + n_tup_upd + n_tup_del AS n FROM pg_stat_user_tables");
    return {
      transactions: Number(row?.["transactions"]),
      writing: Number(row?.["xid"]),
      walBytes: Number(row?.["wal"]),
      rows: new Map(tables.map(({ relname, n }) => [String(relname), Number(n)])),
      at: performance.now(),
    };
  }

  /** In bytes, indexes included. */
  async size(): Promise<number> {
    const [row] = await this.#ask("SELECT pg_database_size(current_database()) AS size");
    return Number(row?.["size"]);
  }

  async #ask(text: string): Promise<Record<string, unknown>[]> {
    return (await this.#client.query<Record<string, unknown>>(text)).rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}
