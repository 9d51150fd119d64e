import assert from "node:assert/strict";
import type { NewSession, SessionHealth } from "../../../src/store/records/job-records.ts";
import { type Kit, NOBODY, refused, refusedField, type Scenario, walk } from "./kit.ts";

export function newSession(name: string | null, more: Partial<NewSession> = {}): NewSession {
  return {
    name,
    origin: "https://a.example",
    holds: ["cookies"],
    sealed: Uint8Array.from([0, 1, 2, 254, 255]),
    checkUrl: null,
    ...more,
  };
}

async function make(kit: Kit, name: string | null, more: Partial<NewSession> = {}) {
  return (await kit.store.createSession(newSession(name, more), kit.now)).created;
}

const bytes = (sealed: Uint8Array | undefined) => [...(sealed ?? [])];

export function sessionScenarios(scenario: Scenario): void {
  scenario("what was sealed is known to be there, and an empty store has nothing sealed", async (kit) => {
    assert.equal(await kit.store.hasSealed(), false);
    await make(kit, "login");
    assert.equal(await (await kit.open()).hasSealed(), true);
  });

  scenario("a session is kept with its sealed bytes, which the answer does not repeat", async (kit) => {
    const given = newSession("login", { holds: ["cookies", "headers"], checkUrl: "https://a.example/me" });
    const { created, lanes, replayed } = await kit.store.createSession(given, kit.now);
    assert.deepEqual([lanes, replayed], [[], false]);
    assert.deepEqual(
      { ...created, sealed: null },
      { ...given, sealed: null, id: created.id, health: null, createdAt: kit.now, lastUsedAt: null },
    );
    assert.ok(created.sealed instanceof Uint8Array);
    assert.equal(created.sealed.length, 0);
    const other = await kit.open();
    const read = await other.session(created.id);
    assert.deepEqual(bytes(read?.sealed), bytes(given.sealed));
    assert.deepEqual({ ...read, sealed: null }, { ...created, sealed: null });
    assert.deepEqual(
      (await other.sessions({ limit: 10 })).map((one) => bytes(one.sealed)),
      [bytes(given.sealed)],
    );
  });

  scenario("an id that is no session's reads as null, and cannot be judged or deleted", async (kit) => {
    const health: SessionHealth = { status: "healthy", message: "signed in", checkedAt: kit.now };
    for (const id of [NOBODY, "not an id", ""]) {
      assert.equal(await kit.store.session(id), null);
      await refused("not_found", kit.store.noteSessionHealth(id, health));
      await refused("not_found", kit.store.deleteSession(id));
    }
  });

  scenario("the newest word about a session's health is what counts", async (kit) => {
    const created = await make(kit, "login");
    for (const status of ["healthy", "rejected", "unreachable"] as const) {
      kit.pass(10);
      const health: SessionHealth = { status, message: `it is ${status}`, checkedAt: kit.now };
      const noted = await kit.store.noteSessionHealth(created.id, health);
      assert.deepEqual(noted.health, health);
      assert.deepEqual(bytes(noted.sealed), bytes(newSession(null).sealed));
      assert.deepEqual((await kit.store.session(created.id))?.health, health);
    }
  });

  scenario("a session is found by its name, which no other one can have", async (kit) => {
    const created = await make(kit, "shop");
    const other = await kit.open();
    assert.equal((await other.session("shop"))?.id, created.id);
    assert.equal(await other.session("Shop"), null);
    await refusedField("name", other.createSession(newSession("shop", { origin: "https://b.example" }), kit.now));
    for (const unnamed of [await make(kit, null), await make(kit, null)]) assert.equal(unnamed.name, null);
    await kit.store.deleteSession(created.id);
    assert.notEqual((await make(kit, "shop")).id, created.id, "the name is free again");
  });

  scenario("when a session was used is noted, not more often than once a minute", async (kit) => {
    const { id } = await make(kit, "shop");
    const used = async () => (await kit.store.session(id))?.lastUsedAt;
    const first = kit.now;
    await kit.store.noteSessionUse(id, first);
    await kit.store.noteSessionUse(id, first + 59_999);
    assert.equal(await used(), first);
    await kit.store.noteSessionUse(id, first + 60_000);
    assert.equal(await used(), first + 60_000);
    await kit.store.noteSessionUse(NOBODY, first);
  });

  scenario("jobs that sign in are found by their session", async (kit) => {
    const job = (name: string, session_id: string | null) =>
      kit.store.createJob(
        {
          name,
          kind: "page",
          url: "https://a.example/",
          site: "a.example",
          tags: [],
          recipe: { session_id },
          nextAt: null,
          nextOccurrenceAt: null,
        },
        kit.now,
      );
    const { id } = await make(kit, "shop");
    for (const [name, session] of [
      ["one", id],
      ["two", null],
      ["three", NOBODY],
    ] as const)
      await job(name, session);
    const names = async (session?: string) =>
      (await kit.store.jobs({ limit: 10, ...(session === undefined ? {} : { session }) })).map(({ name }) => name);
    assert.deepEqual(await names(id), ["one"]);
    assert.deepEqual(await names("any"), ["three", "one"]);
    assert.deepEqual(await names(), ["three", "two", "one"]);
  });

  scenario("a deleted session is gone, and only that one", async (kit) => {
    const [one, two] = [await make(kit, "one"), await make(kit, "two")];
    await kit.store.deleteSession(one.id);
    assert.equal(await kit.store.session(one.id), null);
    await refused("not_found", kit.store.deleteSession(one.id));
    assert.deepEqual(
      (await kit.store.sessions({ limit: 10 })).map(({ id }) => id),
      [two.id],
    );
  });

  scenario("sessions come newest first, by origin, without gaps or doubles while others are added", async (kit) => {
    let late = 0;
    const created: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      created.unshift((await make(kit, `s${n}`)).id);
      await make(kit, `noise ${n}`, { origin: "https://b.example" });
    }
    const seen = await walk(
      (position) => kit.store.sessions({ ...position, origin: "https://a.example" }),
      2,
      () => make(kit, `late ${(late += 1)}`),
    );
    assert.deepEqual(
      seen.map(({ id }) => id),
      created,
    );
    const all = await walk((position) => kit.store.sessions(position), 5);
    assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
    assert.equal(all.filter(({ name }) => name?.startsWith("late") !== true).length, 14);
    assert.deepEqual(await kit.store.sessions({ origin: "https://A.example", limit: 10 }), []);
    assert.deepEqual(await kit.store.sessions({ origin: "https://a", limit: 10 }), []);
  });

  scenario("a reader goes on behind a session that was deleted meanwhile", async (kit) => {
    for (const name of ["s0", "s1", "s2", "s3"]) await make(kit, name);
    const page = await kit.store.sessions({ limit: 2 });
    for (const { id } of page) await kit.store.deleteSession(id);
    await make(kit, "late");
    const rest = await kit.store.sessions({ after: page[1]?.id ?? "", limit: 10 });
    assert.deepEqual(
      rest.map(({ name }) => name),
      ["s1", "s0"],
    );
  });

  scenario("a position that is no session's is refused, and named", async (kit) => {
    await make(kit, "one");
    for (const after of [NOBODY, "not an id", ""]) {
      await refusedField("after", kit.store.sessions({ after, limit: 10 }));
      await refusedField("after", kit.store.sessions({ after, origin: "https://a.example", limit: 10 }));
    }
  });
}
