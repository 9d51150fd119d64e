import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import pg from "pg";
import { systemClock } from "../../src/base/clock.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { PostgresConnection } from "../../src/store/postgres/connection.ts";
import { ask, type ChannelEnds, createChannel } from "../../src/store/postgres/sync-channel.ts";
import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { Cable } from "../support/cable.ts";
import { startPostgres, type TestService } from "../support/services.ts";
import { servicesGate } from "../support/services-kit.ts";

/** A connection that this thread stands still for, as a thread of the store does. */
class Direct implements AsyncDisposable {
  readonly connection: PostgresConnection;
  readonly line: ChannelEnds["asking"];
  readonly #wire: Worker;

  constructor(url: string) {
    const { asking, answering } = createChannel();
    this.line = asking;
    this.#wire = new Worker(new URL("../../src/store/postgres/thread-start.ts", import.meta.url), {
      workerData: { role: "wire", url, schema: "public", channels: [{ end: answering, readOnly: false }] },
      transferList: [answering.port],
    });
    this.connection = new PostgresConnection(asking, "public");
  }

  names(): string[] {
    return (this.connection.sql("SELECT name FROM things ORDER BY name").all() as { name: string }[]).map(
      ({ name }) => name,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#wire.once("exit", resolve));
    this.#wire.postMessage("close");
    await ended;
    this.line.port.close();
  }
}

describe("a connection to Postgres", servicesGate, () => {
  let service: TestService;
  let admin: pg.Client;

  before(async () => {
    service = await startPostgres();
    admin = new pg.Client({ connectionString: service.url });
    await admin.connect();
    await admin.query(
      "CREATE UNLOGGED TABLE crash_sentinel (one BIGINT PRIMARY KEY); INSERT INTO crash_sentinel VALUES (1)",
    );
  });

  after(async () => {
    await admin.end();
    await service[Symbol.asyncDispose]();
  });

  test("a process closes its store while answers are on their way, and goes on [slow]", async () => {
    const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
    const script = `
      import { systemClock } from ${source("base/clock.ts")};
      import { openPostgresStore } from ${source("store/postgres/store.ts")};
      const store = await openPostgresStore({ url: ${JSON.stringify(service.url)}, clock: systemClock });
      void Promise.all([store.controlVersion(), store.controlVersion(), store.setSite("a.example", { paused: true })]);
      await store.close();
      console.log("closed");`;
    for (let round = 0; round < 4; round += 1) {
      const { stdout } = await promisify(execFile)(process.execPath, ["-e", script]);
      assert.equal(stdout, "closed\n");
    }
  });

  test("a server that takes five seconds for the first connection is waited for [slow]", async () => {
    const cable = await Cable.to(service.port);
    try {
      cable.freeze();
      const url = new URL(service.url);
      url.port = String(cable.port);
      const opening = openPostgresStore({ url: url.href, clock: systemClock });
      // Time is the subject: a connection that stands is given up after three seconds.
      await Promise.race([wait(5000), opening]);
      cable.thaw();
      await (await opening).close();
    } finally {
      cable.cut();
    }
  });

  const empty = () => admin.query("DROP TABLE IF EXISTS things; CREATE TABLE things (name TEXT PRIMARY KEY)");
  const insert = "INSERT INTO things VALUES (?)";

  test("of a transaction with more than can be written at once nothing is kept", async () => {
    await empty();
    await using direct = new Direct(service.url);
    const { connection } = direct;
    const large = "x".repeat(2 ** 26 + 1);
    assert.throws(
      () =>
        connection.write(() => {
          connection.sql(insert).run("before");
          connection.bulk("INSERT INTO things SELECT unnest($1::text[])", [[large, large]]);
        }),
      /too much data for one write/,
    );
    assert.deepEqual(direct.names(), []);
    connection.write(() => connection.sql(insert).run("after"));
    assert.deepEqual(direct.names(), ["after"]);
  });

  test("what changes tables may take as long as it takes, and nobody thinks meanwhile that the server is gone [slow]", async () => {
    await admin.query(
      "CREATE TABLE control (version INT); CREATE TABLE events (n INT); INSERT INTO control VALUES (1)",
    );
    await using direct = new Direct(service.url);
    const { connection } = direct;
    const limits = () =>
      connection
        .sql("SELECT current_setting('statement_timeout') AS all, current_setting('lock_timeout') AS locks")
        .get();
    const pid = () => connection.sql("SELECT pg_backend_pid() AS pid").get()?.["pid"];
    const before = pid();
    connection.writeUnlimited(() => {
      assert.deepEqual({ ...limits() }, { all: "0", locks: "0" });
      // Longer than a server may be silent.
      connection.script("LOCK TABLE control, events IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(5)");
      assert.equal(pid(), before);
    });
    assert.deepEqual({ ...limits() }, { all: "1min", locks: "15s" });
    await admin.query("DROP TABLE control, events");
  });

  test("of several that share a commit, those that fail take nothing along, whenever their error comes back", async () => {
    await empty();
    await using direct = new Direct(service.url);
    const { connection } = direct;
    const add = (name: string) => void connection.sql(insert).run(name);
    add("there");
    const tried = await Promise.allSettled([
      // Fails before anything was sent, the beginning of the transaction included.
      connection.writeTogether(() => {
        add("first");
        throw new Error("thought better of it");
      }),
      // Is told by the end of its part that an early statement failed.
      connection.writeTogether(() => {
        add("second");
        add("there");
        add("second, too");
      }),
      connection.writeTogether(() => {
        add("third");
        return connection.sql("SELECT count(*) AS n FROM things").get()?.["n"];
      }),
      // Fails behind an answer.
      connection.writeTogether(() => {
        add("fourth");
        connection.sql("SELECT count(*) AS n FROM things").get();
        throw new Error("thought better of it");
      }),
      connection.writeTogether(() => add("fifth")),
    ]);
    assert.deepEqual(
      tried.map(({ status }) => status),
      ["rejected", "rejected", "fulfilled", "rejected", "fulfilled"],
    );
    assert.match(String((tried[1] as PromiseRejectedResult).reason), /duplicate key/);
    assert.equal((tried[2] as PromiseFulfilledResult<unknown>).value, 2);
    assert.deepEqual(direct.names(), ["fifth", "there", "third"]);
  });

  test("a transaction in which something failed is never told as done, even where the failure was caught", async () => {
    await empty();
    await using direct = new Direct(service.url);
    const { connection } = direct;
    connection.sql(insert).run("there");
    assert.throws(
      () =>
        connection.write(() => {
          connection.sql(insert).run("lost");
          try {
            connection.sql(`${insert} RETURNING name`).get("there");
          } catch {
            // Goes on as if nothing had been.
          }
        }),
      /rolled back/,
    );
    assert.deepEqual(direct.names(), ["there"]);
    connection.write(() => void connection.sql(insert).run("next"));
    assert.deepEqual(direct.names(), ["next", "there"]);
  });

  test("reading and writing begin anew when their connection is ended in the middle", async () => {
    await empty();
    await using direct = new Direct(service.url);
    const { connection } = direct;
    let tries = 0;
    const dieOnce = () => {
      tries += 1;
      if (tries % 2 === 1) connection.sql("SELECT pg_terminate_backend(pg_backend_pid())").get();
    };
    connection.write(() => {
      connection.sql(insert).run("once");
      dieOnce();
    });
    const read = connection.read(() => {
      dieOnce();
      return connection.sql("SELECT count(*) AS n FROM things").get()?.["n"];
    });
    assert.deepEqual([read, tries], [1, 4]);
  });

  test("an answer that comes after it was given up is not taken for the next one", async () => {
    await using direct = new Direct(service.url);
    const request = (text: string) => ({ text, name: null, values: [], lists: false });
    const say = (text: string, ms?: number) => ask(direct.line, { requests: [request(text)], fresh: true }, ms);
    assert.deepEqual(say("SELECT 1 AS n"), [{ rows: [{ n: 1 }], count: 1 }]);
    const [late] = say("SELECT pg_sleep(0.5), 'late' AS n", 50);
    assert.ok(late !== undefined && "error" in late && late.error.code === null);
    for (const n of [2, 3]) assert.deepEqual(say(`SELECT ${n} AS n`), [{ rows: [{ n }], count: 1 }]);
  });

  test("a user who may not use the schema is told so, and everybody by how much the clocks differ [slow]", async () => {
    const heard: number[] = [];
    const open = (url: string) =>
      openPostgresStore({ url, clock: systemClock, onAhead: (aheadMs) => heard.push(aheadMs) });
    await (await open(`${service.url}?schema=closed`)).close();
    assert.ok(heard.length > 0 && heard.every((aheadMs) => Math.abs(aheadMs) < 5000), String(heard));
    await admin.query("CREATE ROLE stranger LOGIN PASSWORD 'stranger'");
    const url = Object.assign(new URL(service.url), { username: "stranger", password: "stranger" });
    await assert.rejects(
      open(`${url.href}?schema=closed`),
      (error) => isOrbError(error, "database_unavailable") && /permission denied for schema closed/.test(error.message),
    );
  });
});
