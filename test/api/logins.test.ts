import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { networkOf, WrongLogins } from "../../src/api/wrong-logins.ts";
import { FakeClock, settled } from "../support/fake-clock.ts";
import { openTestApi, type TestApi, TOKEN } from "./kit.ts";

const withToken = { settings: { token: TOKEN } };
const bearer = { authorization: `Bearer ${TOKEN}` };

async function logIn(served: TestApi, headers: Record<string, string> = {}): Promise<string> {
  const answer = await served.send("POST", "/session", { token: TOKEN }, headers);
  assert.equal(answer.status, 204, answer.text);
  return ([answer.headers["set-cookie"]].flat()[0] ?? "").split(";")[0] ?? "";
}

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

  test("from one network of IPv6 is one", () => {
    assert.equal(networkOf("2001:db8:1:2:3:4:5:6"), networkOf("2001:db8:1:2::9"));
    assert.notEqual(networkOf("2001:db8:1:2::9"), networkOf("2001:db8:1:3::9"));
    assert.equal(networkOf("::ffff:192.0.2.1"), "192.0.2.1");
  });
});
