import assert from "node:assert/strict";
import crypto, { createHash } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { once } from "node:events";
import { describe, test } from "node:test";
import { WebSocket } from "ws";
import { addFirecrawl } from "../../src/firecrawl/routes.ts";
import { networkOf, WrongLogins } from "../../src/api/wrong-logins.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";
import { type Answer, openTestApi, type TestApi, TOKEN } from "./kit.ts";

const withToken = { settings: { token: TOKEN } };
const bearer = { authorization: `Bearer ${TOKEN}` };

const cookieIn = ({ headers }: Answer) => ([headers["set-cookie"]].flat()[0] ?? "").split(";")[0] ?? "";

async function logIn(served: TestApi, headers: Record<string, string> = {}, token = TOKEN): Promise<string> {
  const answer = await served.send("POST", "/session", { token }, headers);
  assert.equal(answer.status, 204, answer.text);
  return cookieIn(answer);
}

const logOut = (served: TestApi, cookie: string) =>
  served.call({ method: "DELETE", path: "/session", headers: { cookie } });

describe("whoever logs out", () => {
  test("has ended the login: a copy of its cookie is not taken any more, and other logins go on", async (t) => {
    const served = await openTestApi(t, withToken);
    const cookie = await logIn(served);
    const other = await logIn(served);
    assert.notEqual(cookie, other, "each login is one of its own");
    await served.call({ method: "DELETE", path: "/session", headers: { cookie } });
    assert.equal((await served.get("/queue/stats", { cookie })).status, 401);
    assert.equal((await served.get("/session", { cookie })).json<{ logged_in: boolean }>().logged_in, false);
    assert.equal((await served.get("/queue/stats", { cookie: other })).status, 200);
  });

  test("has ended the cookies that were renewed since, and those before [slow]", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const first = await logIn(served);
    await clock.advance(2 * 86_400_000);
    const renewed = (
      [(await served.get("/queue/stats", { cookie: first })).headers["set-cookie"]].flat()[0] ?? ""
    ).split(";")[0]!;
    assert.match(renewed, /^orb_session=/);
    await served.call({ method: "DELETE", path: "/session", headers: { cookie: renewed } });
    for (const cookie of [first, renewed]) assert.equal((await served.get("/queue/stats", { cookie })).status, 401);
  });
});

describe("whoever logs out of a login by a key or the token", () => {
  /** Reads an event stream to its end. */
  async function readStream(served: TestApi, cookie: string) {
    const stream = await fetch(`${served.url}/events/stream`, { headers: { cookie } });
    assert.equal(stream.status, 200);
    const state = { hasEnded: false, ended: Promise.resolve() };
    state.ended = (async () => {
      for await (const _ of stream.body!);
      state.hasEnded = true;
    })();
    state.ended.catch(() => {});
    return state;
  }

  test("has ended its event streams and WebSockets within two seconds, and those of no other login", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock, routes: [addFirecrawl as never] });
    const made = await served.send("POST", "/keys", { name: "k", role: "operator" }, bearer);
    const { key } = made.json<{ key: string }>();
    const crawl = await served.send("POST", "/v2/crawl", { url: "https://a.example/" }, bearer);
    const socketUrl = `${served.url.replace("http", "ws")}/v2/crawl/${crawl.json<{ id: string }>().id}`;
    const streamOfOther = await readStream(served, await logIn(served, {}, key));
    for (const secret of [TOKEN, key]) {
      const cookie = await logIn(served, {}, secret);
      const stream = await readStream(served, cookie);
      const ws = new WebSocket(socketUrl, { headers: { cookie } });
      await once(ws, "open");
      const closed = once(ws, "close");
      await clock.advance(5000);
      assert.deepEqual([stream.hasEnded, ws.readyState], [false, WebSocket.OPEN], "they go on");
      await logOut(served, cookie);
      await clock.advance(2000);
      await Promise.all([stream.ended, closed]);
    }
    await clock.advance(2000);
    assert.equal(streamOfOther.hasEnded, false);
  });

  test("a login goes on while it is used, and so do its streams; a revoked key ends them within a second", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const made = await served.send("POST", "/keys", { name: "k", role: "viewer" }, bearer);
    const { id, key } = made.json<{ id: string; key: string }>();
    const cookie = await logIn(served, {}, key);
    assert.equal((await served.get("/keys/me", { cookie })).json<{ expires_at: null }>().expires_at, null);
    const stream = await readStream(served, cookie);
    clock.jump(8 * 86_400_000);
    await clock.advance(2000);
    assert.equal(stream.hasEnded, false);
    await served.call({ method: "DELETE", path: `/keys/${id}`, headers: bearer });
    await clock.advance(999);
    await stream.ended;
  });
});

describe("whoever logs in again", () => {
  test("with the cookie of a login that has ended has a new login", async (t) => {
    const served = await openTestApi(t, withToken);
    const ended = await logIn(served);
    await logOut(served, ended);
    const cookie = await logIn(served, { cookie: ended });
    assert.equal((await served.get("/queue/stats", { cookie })).status, 200);
  });

  test("has a login of its own: the one before ends alone", async (t) => {
    const served = await openTestApi(t, withToken);
    const before = await logIn(served);
    const cookie = await logIn(served, { cookie: before });
    await logOut(served, before);
    assert.equal((await served.get("/queue/stats", { cookie: before })).status, 401);
    assert.equal((await served.get("/queue/stats", { cookie })).status, 200);
  });
});

describe("a browser that sends the token as the password of a page", () => {
  const password = { authorization: `Basic ${Buffer.from(`me:${TOKEN}`).toString("base64")}` };
  const logins = async (served: TestApi) =>
    (await served.get("/audit-log?action=login", bearer)).json<{ action: string; actor: { kind: string } }[]>();

  test("begins one login, which is in the audit log", async (t) => {
    const served = await openTestApi(t, withToken);
    const cookie = cookieIn(await served.get("/docs/json", password));
    const again = await served.get("/docs/json", { ...password, cookie });
    assert.deepEqual([again.status, again.headers["set-cookie"]], [200, undefined], "the login goes on");
    assert.deepEqual(
      (await logins(served)).map(({ action, actor }) => [action, actor.kind]),
      [["login.succeeded", "token"]],
    );
  });

  test("begins another one after it has logged out, and when it was somebody else's", async (t) => {
    const served = await openTestApi(t, withToken);
    const ended = cookieIn(await served.get("/docs/json", password));
    await logOut(served, ended);
    const cookie = cookieIn(await served.get("/docs/json", { ...password, cookie: ended }));
    assert.equal((await served.get("/queue/stats", { cookie })).status, 200);
    const made = await served.send("POST", "/keys", { name: "k", role: "viewer" }, bearer);
    const ofKey = await logIn(served, {}, made.json<{ key: string }>().key);
    const own = cookieIn(await served.get("/docs/json", { ...password, cookie: ofKey }));
    assert.equal((await served.get("/keys/me", { cookie: own })).json<{ kind: string }>().kind, "token");
    assert.deepEqual(
      (await logins(served)).map(({ actor }) => actor.kind),
      ["token", "key", "token", "token"],
    );
  });
});

test("a request with two Host headers is refused", async (t) => {
  const served = await openTestApi(t);
  const answer = await served.api.inject({ url: "/health" });
  assert.equal(answer.statusCode, 200);
  const { connect } = await import("node:net");
  const socket = connect(served.port, "127.0.0.1");
  socket.write(
    `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nhost: evil.test\r\nConnection: close\r\n\r\n`,
  );
  const text = (await socket.setEncoding("utf8").toArray()).join("");
  assert.match(text, /^HTTP\/1\.1 400 /);
  assert.match(text, /request_malformed/);
});

describe("whoever guesses tokens", () => {
  test("waits longer for each answer, while the right token is answered at once", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const guess = () => served.get("/queue/stats", { authorization: "Bearer wrong-wrong-wrong" });
    for (let n = 0; n < 10; n += 1) assert.equal((await guess()).status, 401, "people mistype");
    let answered = false;
    // On connections of their own: what waits on one keeps others on it waiting.
    const slow = fetch(`${served.url}/queue/stats`, { headers: { authorization: "Bearer wrong-wrong-wrong" } });
    void slow.finally(() => (answered = true));
    const headers = { "content-type": "application/json" };
    const session = fetch(`${served.url}/session`, { method: "POST", headers, body: '{"token": "wrong"}' });
    assert.equal((await served.get("/queue/stats", bearer)).status, 200);
    await logIn(served);
    assert.equal(answered, false, "the guess still waits");
    const passing = setInterval(() => void clock.advance(1000), 5);
    t.after(() => clearInterval(passing));
    assert.equal((await slow).status, 401);
    assert.equal((await session).status, 401);
  });

  test("is refused at once when many of its guesses wait already", async () => {
    const clock = new FakeClock();
    const logins = new WrongLogins(clock);
    for (let n = 0; n < 10; n += 1) await logins.slowDown("192.0.2.1");
    const waiting = Array.from({ length: 8 }, () => logins.slowDown("192.0.2.1"));
    await assert.rejects(logins.slowDown("192.0.2.1"), { code: "too_many_logins" });
    await logins.slowDown("192.0.2.2");
    await clock.advance(10_000);
    await Promise.all(waiting);
    await clock.advance(600_001);
    await logins.slowDown("192.0.2.1");
  });

  test("from ever other addresses takes a bounded memory, and waits all the same", async () => {
    const clock = new FakeClock();
    const logins = new WrongLogins(clock);
    let refused = 0;
    const waiting: Promise<void>[] = [];
    for (let n = 0; n < 12_000; n += 1)
      waiting.push(logins.slowDown(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`).catch(() => void (refused += 1)));
    await settled();
    assert.ok(logins.size <= 10_000, `${logins.size} are remembered`);
    assert.ok(refused > 11_000, "few wait at a time");
    await clock.advance(10_000);
    await Promise.all(waiting);
  });

  test("ten thousand times from one address is locked out, and nobody else is", async () => {
    const clock = new FakeClock();
    const logins = new WrongLogins(clock);
    const tries = { answered: 0, refused: 0 };
    const guess = (address: string) =>
      logins.slowDown(address).then(
        () => void (tries.answered += 1),
        (error: { code: string }) => {
          assert.equal(error.code, "too_many_logins");
          tries.refused += 1;
        },
      );
    const guesses = Array.from({ length: 10_000 }, () => guess("192.0.2.1"));
    // Somebody else mistypes meanwhile: answered at once, without the clock moving on.
    for (let n = 0; n < 10; n += 1) await logins.slowDown(`198.51.100.${n % 2}`);
    await clock.advance(10_000);
    await Promise.all(guesses);
    assert.deepEqual(tries, { answered: 18, refused: 9982 });
  });

  test("of keys is locked out over the network, while another address signs in with its key at once", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const made = await served.send("POST", "/keys", { name: "k", role: "viewer" }, bearer);
    const { key } = made.json<{ key: string }>();
    const wrong = `orb_${"A".repeat(43)}`;
    const statuses: number[] = [];
    const from = (ip: string, secret: string) =>
      served.api.inject({ url: "/keys/me", headers: { authorization: `Bearer ${secret}` }, remoteAddress: ip });
    const guesses = Array.from({ length: 200 }, async () => {
      statuses.push((await from("192.0.2.1", wrong)).statusCode);
    });
    assert.equal((await from("198.51.100.1", key)).statusCode, 200);
    assert.equal((await from("198.51.100.1", wrong)).statusCode, 401, "a mistake of somebody else is answered at once");
    assert.equal((await from("192.0.2.1", key)).statusCode, 200, "even there the right key is");
    const passing = setInterval(() => void clock.advance(1000), 5);
    t.after(() => clearInterval(passing));
    await Promise.all(guesses);
    assert.deepEqual(Object.groupBy(statuses, String)["401"]?.length, 18);
    assert.equal(statuses.filter((status) => status === 429).length, 182);
  });

  test("as passwords of a page waits with a login, too; the right one and the login alone do not", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const made = await served.send("POST", "/keys", { name: "k", role: "viewer" }, bearer);
    const cookie = await logIn(served, {}, made.json<{ key: string }>().key);
    const password = (text: string) => ({
      authorization: `Basic ${Buffer.from(`me:${text}`).toString("base64")}`,
      cookie,
    });
    for (let n = 0; n < 10; n += 1) assert.equal((await served.get("/docs/json", password(`guess-${n}`))).status, 200);
    let answered = false;
    const slow = fetch(`${served.url}/docs/json`, { headers: password("guess-10") });
    void slow.finally(() => (answered = true));
    for (const headers of [{ cookie }, password("guess-9"), password(TOKEN)])
      assert.equal((await served.get("/docs/json", headers)).status, 200);
    assert.equal(answered, false, "the guess still waits");
    const passing = setInterval(() => void clock.advance(1000), 5);
    t.after(() => clearInterval(passing));
    assert.equal((await slow).status, 200);
  });

  test("while signed in waits for each new one, also when it is sent twice at once, and not for one a minute", async () => {
    const clock = new FakeClock();
    const logins = new WrongLogins(clock);
    for (let n = 0; n < 100; n += 1) {
      await logins.slowDownPerson("ann", `a token that is renewed, ${n}`);
      await clock.advance(60_000);
    }
    for (let n = 0; n < 10; n += 1) await logins.slowDownPerson("ann", `guess ${n}`);
    const done: string[] = [];
    const guess = (secret: string) =>
      logins.slowDownPerson("ann", secret).then(
        () => void done.push(secret),
        ({ code }: { code: string }) => void done.push(code),
      );
    const waiting = ["a", "a", "b", "c", "d", "e", "f", "g", "h"].map(guess);
    await settled();
    assert.deepEqual(done, []);
    await guess("i");
    assert.deepEqual(done.splice(0), ["too_many_logins"]);
    await logins.slowDownPerson("bob", "i");
    for (let n = 0; n < 10; n += 1) await logins.slowDown("192.0.2.1");
    await clock.advance(10_000);
    await Promise.all(waiting);
    assert.deepEqual(done.toSorted(), ["a", "a", "b", "c", "d", "e", "f", "g", "h"]);
    await guess("h");
    assert.equal(done.at(-1), "h", "it is known");
  });

  test("from one network of IPv6 is one", () => {
    assert.equal(networkOf("2001:db8:1:2:3:4:5:6"), networkOf("2001:db8:1:2::9"));
    assert.notEqual(networkOf("2001:db8:1:2::9"), networkOf("2001:db8:1:3::9"));
    assert.equal(networkOf("::ffff:192.0.2.1"), "192.0.2.1");
  });
});

describe("secrets are compared without an early exit", () => {
  test("a key is only looked up by its hash, and a text that cannot be one is not looked up at all", async (t) => {
    const asked: string[] = [];
    const served = await openTestApi(t, {
      ...withToken,
      store: (real) =>
        new Proxy(real, {
          get(target, name) {
            const value = Reflect.get(target, name) as unknown;
            if (name !== "keyByHash") return typeof value === "function" ? (value.bind(target) as unknown) : value;
            return (hash: string) => {
              asked.push(hash);
              return target.keyByHash(hash);
            };
          },
        }),
    });
    const made = await served.send("POST", "/keys", { name: "k", role: "viewer" }, bearer);
    const { key } = made.json<{ key: string }>();
    // Right up to its last character, or from none on.
    const wrong = [`${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`, `orb_${"B".repeat(43)}`];
    for (const secret of [key, ...wrong, key.slice(0, -1), `${key}A`])
      await served.get("/keys/me", { authorization: `Bearer ${secret}` });
    const hashes = [key, ...wrong].map((secret) => createHash("sha256").update(secret).digest("hex"));
    // A refused one is looked up again: it may have been revoked, or have expired.
    assert.deepEqual([...new Set(asked)], hashes);
    // One character changes half of the hash: its order says nothing about the key.
    const [right = "", near = ""] = hashes;
    assert.ok([...right].filter((digit, n) => digit !== near[n]).length > 40);
  });

  test("the token and the seals of cookies are compared as digests, in constant time", async (t) => {
    const served = await openTestApi(t, withToken);
    const cookie = await logIn(served);
    const compare = t.mock.method(crypto, "timingSafeEqual");
    syncBuiltinESMExports();
    t.after(() => {
      compare.mock.restore();
      syncBuiltinESMExports();
    });
    const lengths = () => compare.mock.calls.map(({ arguments: [a, b] }) => [a.byteLength, b.byteLength]);
    for (const secret of [TOKEN, "x", TOKEN.slice(0, -1), `${TOKEN}x`, "a".repeat(500)]) {
      compare.mock.resetCalls();
      await served.get("/queue/stats", { authorization: `Bearer ${secret}` });
      assert.deepEqual(lengths(), [[32, 32]], secret.slice(0, 30));
    }
    compare.mock.resetCalls();
    await served.get("/queue/stats", { cookie: `${cookie.slice(0, -1)}${cookie.endsWith("x") ? "y" : "x"}` });
    assert.deepEqual(lengths(), [[32, 32]]);
  });
});
