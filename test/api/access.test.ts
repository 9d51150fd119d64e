import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { createApi } from "../../src/api/server.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openBackstage, openTestApi, type TestApi, TOKEN } from "./kit.ts";

const withToken = { settings: { token: TOKEN } };
const bearer = { authorization: `Bearer ${TOKEN}` };

async function logIn(served: TestApi): Promise<string> {
  const answer = await served.send("POST", "/session", { token: TOKEN });
  assert.equal(answer.status, 204);
  const [cookie] = [answer.headers["set-cookie"]].flat();
  assert.match(cookie ?? "", /^orb_session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
  return (cookie ?? "").split(";")[0] ?? "";
}

describe("with a token", () => {
  test("every call needs it, also one to an unknown address; only health and logging in do not", async (t) => {
    const served = await openTestApi(t, withToken);
    for (const path of ["/queue/stats", "/ready", "/metrics", "/openapi.json", "/docs", "/docs/json", "/nowhere"]) {
      const refused = await served.get(path);
      assert.equal(refused.status, 401, path);
      assert.equal(refused.json<{ code: string }>().code, "unauthorized");
      const wanted = path.startsWith("/docs") ? 'Basic realm="orb", charset="UTF-8"' : 'Bearer realm="orb"';
      assert.equal(refused.headers["www-authenticate"], wanted, path);
      assert.notEqual((await served.get(path, bearer)).status, 401, path);
    }
    assert.equal((await served.get("/health")).status, 200);
    const nobody = { caller: null, can_log_out: false, provider: null, sign_in_error: null };
    const refused = { token_needed: true, logged_in: false, ...nobody };
    assert.deepEqual((await served.get("/session")).json(), refused);
    const caller = { kind: "token", name: "APP_API_TOKEN", role: "admin" };
    assert.deepEqual((await served.get("/session", bearer)).json(), { ...refused, logged_in: true, caller });
  });

  test("a wrong one is refused, however near it is", async (t) => {
    const served = await openTestApi(t, withToken);
    for (const authorization of [
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(0, -1)}`,
      `Basic ${TOKEN}`,
      TOKEN,
      "Bearer",
      "Bearer  ",
    ]) {
      const refused = await served.get("/queue/stats", { authorization });
      assert.equal(refused.status, 401, authorization);
      assert.match(String(refused.headers["www-authenticate"]), /invalid_token/);
    }
    assert.equal((await served.get("/queue/stats", { authorization: `bearer  ${TOKEN}` })).status, 200);
    assert.equal((await served.send("POST", "/session", { token: "wrong" })).status, 401);
  });

  test("a browser logs in, works with its cookie, and logs out", async (t) => {
    const served = await openTestApi(t, withToken);
    const cookie = await logIn(served);
    assert.ok(!cookie.includes(TOKEN), "the cookie does not hold the token");
    assert.equal((await served.get("/queue/stats", { cookie: `other=1; ${cookie}` })).status, 200);
    assert.equal((await served.get("/queue/stats", { cookie: `${cookie}x` })).status, 401);
    const out = await served.call({ method: "DELETE", path: "/session", headers: { cookie } });
    assert.equal(out.status, 204);
    assert.match(String(out.headers["set-cookie"]), /^orb_session=; .*Max-Age=0$/);
  });

  test("a browser asks for the token as a password, which opens pages alone and is answered with a session", async (t) => {
    const served = await openTestApi(t, withToken);
    const password = (text: string) => ({ authorization: `Basic ${Buffer.from(`me:${text}`).toString("base64")}` });
    const wrong = await served.get("/docs/json", password(`${TOKEN}x`));
    assert.deepEqual([wrong.status, wrong.headers["set-cookie"]], [401, undefined]);
    const opened = await served.get("/docs/json", password(TOKEN));
    assert.equal(opened.status, 200);
    const cookie = String(opened.headers["set-cookie"]).split(";")[0] ?? "";
    assert.equal((await served.get("/queue/stats", password(TOKEN))).status, 401, "data is not asked for in that way");
    assert.equal((await served.get("/queue/stats", { ...password(TOKEN), cookie })).status, 200);
    const change = { method: "POST", path: "/sites/a.test/pause", headers: password(TOKEN) };
    assert.equal((await served.call(change)).status, 401, "nor is anything changed");
  });

  test("who comes back within a week stays logged in: an old cookie is answered with a new one", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    let cookie = await logIn(served);
    for (let visit = 0; visit < 3; visit += 1) {
      clock.jump(3_600_000);
      assert.equal((await served.get("/queue/stats", { cookie })).headers["set-cookie"], undefined, "it is fresh");
      clock.jump(6 * 86_400_000);
      const { status, headers } = await served.get("/queue/stats", { cookie });
      assert.deepEqual([status, typeof headers["set-cookie"]], [200, "string"]);
      cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
    }
    clock.jump(7 * 86_400_000);
    assert.equal((await served.get("/queue/stats", { cookie })).status, 401);
  });

  test("who logs in over TLS has a cookie that is sent over TLS alone", async (t) => {
    const served = await openTestApi(t, withToken);
    const isSecure = async (method: string, headers: Record<string, string>) => {
      const body = method === "POST" ? { body: { token: TOKEN } } : {};
      const answer = await served.call({ method, path: "/session", headers, ...body });
      assert.equal(answer.status, 204, answer.text);
      return String(answer.headers["set-cookie"]).endsWith("; Secure");
    };
    const page = `https://${new URL(served.url).host}`;
    for (const method of ["POST", "DELETE"]) {
      assert.equal(await isSecure(method, {}), false);
      assert.equal(await isSecure(method, { origin: served.url, "x-forwarded-proto": "http" }), false);
      assert.equal(await isSecure(method, { "x-forwarded-proto": "https" }), true);
      assert.equal(await isSecure(method, { "x-forwarded-proto": "https, http" }), true);
      assert.equal(await isSecure(method, { origin: page }), true);
    }
  });

  test("a cookie ends by itself, and nobody can make it last longer", async (t) => {
    const clock = new FakeClock();
    const served = await openTestApi(t, { ...withToken, clock });
    const cookie = await logIn(served);
    clock.jump(6 * 86_400_000);
    assert.equal((await served.get("/queue/stats", { cookie })).status, 200);
    clock.jump(2 * 86_400_000);
    assert.equal((await served.get("/queue/stats", { cookie })).status, 401);
    const longer = cookie.replace(/=(\d+)\./, (_, ends) => `=${Number(ends) + 900_000}.`);
    assert.equal((await served.get("/queue/stats", { cookie: longer })).status, 401);
  });

  test("a cookie changes something only from a page of this server", async (t) => {
    const served = await openTestApi(t, withToken);
    const cookie = await logIn(served);
    const pause = (headers: Record<string, string>) =>
      served.call({ method: "POST", path: "/sites/a.test/pause", headers: { cookie, ...headers } });
    assert.equal((await pause({})).status, 403, "nothing says where it comes from");
    assert.equal((await pause({ "sec-fetch-site": "none" })).status, 403);
    assert.equal((await pause({ "sec-fetch-site": "same-origin" })).status, 200);
    assert.equal((await pause({ origin: served.url })).status, 200);
    assert.equal((await pause({ origin: "http://evil.test" })).status, 403);
    assert.equal((await pause({ ...bearer })).status, 200, "a token was sent on purpose");
  });

  test("calls from inside the process have it", async (t) => {
    const served = await openTestApi(t, withToken);
    const answer = await served.api.inject({ method: "GET", url: "/queue/stats" });
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.json<{ total: number }>().total, 0);
  });
});

describe("without a token", () => {
  test("everybody on this machine may call, and logging in is no matter", async (t) => {
    const served = await openTestApi(t);
    assert.equal((await served.get("/queue/stats")).status, 200);
    const login = (await served.get("/session")).json<{ token_needed: boolean; caller: { kind: string } }>();
    assert.deepEqual([login.token_needed, login.caller.kind], [false, "local"]);
    const answer = await served.send("POST", "/session", { token: "whatever" });
    assert.deepEqual([answer.status, answer.headers["set-cookie"]], [204, undefined]);
  });

  test("an address that others can reach is refused", async (t) => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "orb.test"]) {
      const { deps, close } = openBackstage(t, { settings: { host } });
      t.after(close);
      await assert.rejects(createApi(deps), (error) => isOrbError(error, "config_invalid"));
    }
  });
});

describe("a page of another web site", () => {
  test("cannot reach a server on loopback by a name of its own", async (t) => {
    const served = await openTestApi(t);
    for (const host of [
      "evil.test",
      `evil.test:${served.port}`,
      "127.0.0.1",
      "localhost:1",
      `127.0.0.1.evil.test:${served.port}`,
    ]) {
      const refused = await served.get("/queue/stats", { host });
      assert.equal(refused.status, 421, host);
      assert.equal(refused.json<{ code: string }>().code, "host_not_allowed");
    }
    for (const name of ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"])
      assert.equal((await served.get("/queue/stats", { host: `${name}:${served.port}` })).status, 200, name);
    assert.equal((await served.get("/health", { host: "evil.test" })).status, 421, "not even health");
  });

  test("cannot change anything", async (t) => {
    const served = await openTestApi(t);
    const pause = (headers: Record<string, string>) =>
      served.call({ method: "POST", path: "/sites/a.test/pause", headers });
    for (const headers of [
      { origin: "http://evil.test" },
      { origin: "null" },
      { origin: `http://localhost:${served.port + 1}` },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: served.url, "sec-fetch-site": "cross-site" },
    ]) {
      const refused = await pause(headers);
      assert.equal(refused.status, 403, JSON.stringify(headers));
      assert.equal(refused.json<{ code: string }>().code, "forbidden_origin");
    }
    assert.deepEqual((await served.get("/sites")).json(), []);
    assert.equal((await pause({ origin: served.url, "sec-fetch-site": "same-origin" })).status, 200);
    assert.equal((await pause({})).status, 200, "programs send neither");
  });

  test("gets no permission to read", async (t) => {
    const served = await openTestApi(t);
    const asked = { origin: "http://evil.test", "access-control-request-method": "POST" };
    const preflight = await served.call({ method: "OPTIONS", path: "/queue/items", headers: asked });
    assert.equal(preflight.status, 405);
    const { headers } = await served.get("/queue/stats", { origin: "http://evil.test" });
    for (const answer of [preflight.headers, headers])
      assert.deepEqual(
        Object.keys(answer).filter((name) => name.startsWith("access-control")),
        [],
      );
  });
});
