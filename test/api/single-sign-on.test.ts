import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ownPath } from "../../src/api/access/sign-in.ts";
import { createApi } from "../../src/api/server.ts";
import { isOrbError } from "../../src/base/errors.ts";
import { CALLBACK_PATH, type IdentityProvider } from "../../src/domain/access/identity-provider.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { Walker } from "../support/walker.ts";
import { openBackstage, openTestApi, type TestApi, TOKEN } from "./kit.ts";
import { HOUR, openSignIn, ROLES } from "./sign-in-kit.ts";

const admin = { authorization: `Bearer ${TOKEN}` };

interface Me {
  kind?: string;
  id?: string;
  name?: string;
  role?: string;
  code?: string;
  expires_at?: string | null;
}

const me = async (served: TestApi, headers: Record<string, string>) =>
  (await served.get("/keys/me", headers)).json<Me>();
const errorOf = async (served: TestApi, cookie: string) =>
  (await served.get("/session", { cookie })).json<{ sign_in_error: string | null; logged_in: boolean }>();

describe("a person", () => {
  test("signs in through the provider, has the role of their groups, is named in the audit log, and signs out", async (t) => {
    const here = await openSignIn(t);
    const { served, idp } = here;
    idp.accounts.set("ann", { groups: ["staff", "others"], email: "ann@example.com" });
    const { walker, end } = await here.signIn("ann", new Walker(), "/runs?state=failed");
    assert.equal(end, `${served.url}/runs?state=failed`, "back where they wanted to go");
    const set = walker.set.find((line) => line.startsWith("orb_session="));
    assert.match(set ?? "", /^orb_session=p\.[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/);
    assert.equal(walker.cookie(served.url, "orb_sign_in"), undefined, "nothing is left of the sign-in itself");
    const headers = here.headersOf(walker);
    const { kind, id, name, role, expires_at: expiresAt } = await me(served, headers);
    assert.deepEqual([kind, id, name, role], ["person", `${idp.url}#ann`, "ann@example.com", "viewer"]);
    assert.notEqual(expiresAt, null);
    const login = (await served.get("/session", headers)).json<object>();
    assert.deepEqual(login, {
      token_needed: true,
      logged_in: true,
      caller: { kind: "person", name: "ann@example.com", role: "viewer" },
      can_log_out: true,
      provider: { name: "Testers' Gate", url: `${served.url}/session/oidc` },
      sign_in_error: null,
    });
    assert.equal((await served.send("POST", "/runs", {}, headers)).json<Me>().code, "role_missing");
    const { cookie } = headers;
    assert.equal((await served.send("POST", "/runs", {}, { cookie })).json<Me>().code, "forbidden_origin");
    const log = (await served.get("/audit-log?actor_kind=person", admin)).json<{ actor: object; action: string }[]>();
    const actor = { kind: "person", id: `${idp.url}#ann`, name: "ann@example.com" };
    assert.deepEqual(
      log.map((entry) => [entry.action, entry.actor]),
      [["login.succeeded", actor]],
    );
    assert.equal((await served.call({ method: "DELETE", path: "/session", headers })).status, 204);
    assert.equal((await served.get("/keys/me", headers)).status, 401, "a copy of the cookie is worth nothing");
  });

  test("has the highest role of their groups, and what they start and change names them [slow]", async (t) => {
    const here = await openSignIn(t);
    const { served, idp } = here;
    idp.accounts.set("bob", { groups: ["staff", "makers"] });
    const headers = await here.headersFor("bob");
    const actor = { kind: "person", id: `${idp.url}#bob`, name: "Name of bob" };
    assert.equal((await me(served, headers)).role, "operator");
    const body = { name: "shop", target_url: "https://a.example/", fields: { title: "h1" } };
    const { id } = (await served.send("POST", "/jobs", body, headers)).json<{ id: string }>();
    const run = await served.send("POST", `/jobs/${id}/runs`, {}, headers);
    assert.deepEqual(run.json<{ started_by: object }>().started_by, actor, run.text);
    const query = new URLSearchParams({ actor: actor.id, action: "job" }).toString();
    const log = (await served.get(`/audit-log?${query}`, admin)).json<{ actor: object; action: string }[]>();
    assert.deepEqual(log.at(-1)?.actor, actor);
    assert.equal((await served.send("POST", "/keys", { name: "x", role: "admin" }, headers)).status, 403);
  });

  test("whose groups come from the userinfo endpoint alone has their role too [slow]", async (t) => {
    const here = await openSignIn(t, { inIdToken: false });
    here.idp.accounts.set("eve", { groups: ["admins"], email: "eve@example.com" });
    const { role, name } = await me(here.served, await here.headersFor("eve"));
    assert.deepEqual([role, name], ["admin", "eve@example.com"]);
    assert.ok(here.idp.requests.includes("/me"), here.idp.requests.join(" "));
  });

  test("without a role is not let in, and is told why, once [slow]", async (t) => {
    const here = await openSignIn(t);
    const { served, idp } = here;
    idp.accounts.set("mallory", { groups: ["strangers", "__proto__", "constructor", "toString"] });
    const { walker, end } = await here.signIn("mallory");
    assert.equal(end, `${served.url}/login`);
    assert.equal(walker.cookie(served.url, "orb_session"), undefined);
    const { logged_in: isIn, sign_in_error: error } = await errorOf(served, walker.cookiesOf(served.url));
    assert.deepEqual(
      [isIn, error],
      [false, "None of the groups of Name of mallory has a role here. Ask an admin of this server."],
    );
    const told = await served.get("/session", { cookie: walker.cookiesOf(served.url) });
    assert.match(String(told.headers["set-cookie"]), /^orb_sign_in_error=; .*Max-Age=0$/);
    assert.ok(served.log.join("").includes("strangers"), "the log says which groups they have");
  });

  test("who lost a group has its role until the session ends, and not after it [slow]", async (t) => {
    const clock = new FakeClock();
    const here = await openSignIn(t, { clock });
    const { served, idp } = here;
    idp.accounts.set("ann", { groups: ["admins"] });
    const { walker } = await here.signIn("ann");
    const headers = here.headersOf(walker);
    assert.equal((await me(served, headers)).role, "admin");
    idp.accounts.set("ann", { groups: ["staff"] });
    clock.jump(8 * HOUR - 60_000);
    const late = await served.get("/keys/me", headers);
    assert.deepEqual([late.json<Me>().role, late.headers["set-cookie"]], ["admin", undefined], "it is not made longer");
    clock.jump(61_000);
    assert.equal((await served.get("/keys/me", headers)).status, 401);
    await here.signIn("ann", walker);
    assert.equal((await me(served, here.headersOf(walker))).role, "viewer");
    idp.accounts.set("ann", { groups: [] });
    walker.forget(served.url);
    assert.equal((await here.signIn("ann", walker)).end, `${served.url}/login`);
  });

  test("has streams that end with the session, and with the sign-out [slow]", async (t) => {
    const clock = new FakeClock();
    const here = await openSignIn(t, { clock });
    const { served, idp } = here;
    idp.accounts.set("ann", { groups: ["staff"] });
    for (const how of ["sign-out", "end"]) {
      const headers = await here.headersFor("ann");
      const stream = await fetch(`${served.url}/events/stream`, { headers });
      assert.equal(stream.status, 200);
      const ended = (async () => {
        for await (const _ of stream.body!);
        return true;
      })();
      await clock.advance(5000);
      assert.equal(await Promise.race([ended, Promise.resolve(false)]), false, "it goes on");
      if (how === "sign-out") await served.call({ method: "DELETE", path: "/session", headers });
      else clock.jump(8 * HOUR);
      await clock.advance(2000);
      assert.equal(await ended, true, how);
    }
  });
});

describe("a session of a person", () => {
  test("holds on every server of the deployment, and ends on all of them [slow]", async (t) => {
    const here = await openSignIn(t);
    here.idp.accounts.set("ann", { groups: ["admins"] });
    const { cookie } = await here.headersFor("ann");
    // With the same key and the same database.
    const { deps, close } = openBackstage(t, { store: () => here.served.store, settings: { token: TOKEN } });
    const singleSignOn = { roles: ROLES, provider: here.provider, forwarded: null };
    t.after(close);
    const statusAt = async (different: Partial<typeof deps> = {}) => {
      const api = await createApi({ ...deps, singleSignOn, ...different }, [], { observed: false });
      t.after(() => api.close());
      const { url } = await api.listen();
      return async () => (await fetch(`${url}/keys/me`, { headers: { cookie } })).status;
    };
    const other = await statusAt();
    assert.equal(await other(), 200);
    const changed = await statusAt({ singleSignOn: { ...singleSignOn, roles: { staff: "viewer" } } });
    assert.equal(await changed(), 401, "the configuration gives the group no role");
    const renewed = await statusAt({ settings: { ...deps.settings, token: `${TOKEN}-of-another-day` } });
    assert.equal(await renewed(), 401, "a new token ends all sessions");
    const moved = await statusAt({ singleSignOn: { ...singleSignOn, provider: clientOf(here.provider, "another") } });
    assert.equal(await moved(), 401, "so does another client");
    await here.served.call({ method: "DELETE", path: "/session", headers: { cookie } });
    assert.equal(await other(), 401);
  });

  test("cannot be forged, changed, or used for another purpose [slow]", async (t) => {
    const here = await openSignIn(t);
    const { served, idp } = here;
    idp.accounts.set("ann", { groups: ["staff"] });
    const { walker } = await here.signIn("ann");
    const session = walker.cookie(served.url, "orb_session") ?? "";
    await walker.open(`${served.url}/session/oidc`, (url) => url.startsWith(idp.url));
    const started = walker.cookie(served.url, "orb_sign_in") ?? "";
    assert.notEqual(started, "");
    const middle = Math.floor(session.length / 2);
    const flipped = session[middle] === "A" ? "B" : "A";
    const wrong = [
      `${session.slice(0, middle)}${flipped}${session.slice(middle + 1)}`,
      session.slice(0, -8),
      `p.${started}`,
      "p.",
      `p.${"A".repeat(200)}`,
      Buffer.from(JSON.stringify({ subject: "ann", group: "admins", ends: 9e9 })).toString("base64url"),
    ];
    for (const value of wrong) {
      const { status } = await served.get("/keys/me", { cookie: `orb_session=${value}` });
      assert.equal(status, 401, value);
    }
    assert.equal((await served.get("/keys/me", { cookie: `orb_session=${session}` })).status, 200);
  });
});

describe("a sign-in", () => {
  test("works at once with keys that the provider has changed since the last one [slow]", async (t) => {
    const here = await openSignIn(t);
    here.idp.accounts.set("ann", { groups: ["staff"] });
    await here.headersFor("ann");
    here.idp.rotateKeys();
    await here.headersFor("ann");
    assert.equal(here.idp.requests.filter((path) => path === "/jwks").length, 2);
    const looked = here.idp.requests.filter((path) => path === "/.well-known/openid-configuration");
    assert.equal(looked.length, 1, "what changes rarely is not asked for each time");
  });

  test("sends PKCE, state and nonce that differ each time, and needs the provider to send people back here [slow]", async (t) => {
    const here = await openSignIn(t);
    const seen = new Set<string>();
    for (let turn = 0; turn < 2; turn += 1) {
      const walker = new Walker();
      const { url } = await walker.open(`${here.served.url}/session/oidc`, (to) => to.startsWith(here.idp.url));
      const query = new URL(url).searchParams;
      assert.deepEqual(
        ["response_type", "code_challenge_method", "client_id", "scope", "redirect_uri"].map((name) => query.get(name)),
        ["code", "S256", "orbweaver", "openid profile email groups", `${here.served.url}${CALLBACK_PATH}`],
      );
      for (const name of ["state", "nonce", "code_challenge"]) {
        const value = query.get(name) ?? "";
        assert.ok(value.length >= 43, name);
        seen.add(value);
      }
      const [set = ""] = walker.set;
      assert.match(set, /^orb_sign_in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900$/);
      const secrets = Buffer.from(set.split("=")[1]?.split(";")[0] ?? "", "base64url").toString("latin1");
      assert.ok(!secrets.includes(query.get("state") ?? "?"), "it is sealed");
    }
    assert.equal(seen.size, 6);
  });

  test("that the person aborts at the provider ends with the provider's words on the sign-in page [slow]", async (t) => {
    const here = await openSignIn(t);
    const walker = new Walker();
    const { url } = await walker.open(`${here.served.url}/session/oidc`);
    const { url: end } = await walker.open(`${url}?abort=1`);
    assert.equal(end, `${here.served.url}/login`);
    const { sign_in_error: error } = await errorOf(here.served, walker.cookiesOf(here.served.url));
    assert.equal(error, "The provider refused the sign-in: The person went away.");
  });

  test("whose provider does not answer says so [slow]", async (t) => {
    const here = await openSignIn(t);
    await here.idp[Symbol.asyncDispose]();
    const walker = new Walker();
    const { url } = await walker.open(`${here.served.url}/session/oidc`);
    assert.equal(url, `${here.served.url}/login`);
    const { sign_in_error: error } = await errorOf(here.served, walker.cookiesOf(here.served.url));
    assert.match(error ?? "", /^The provider cannot be reached \(\w+\)\. Try again later\.$/);
  });

  test("is completed once, in the browser that started it, with what it was started with [slow]", async (t) => {
    const here = await openSignIn(t);
    const { served, idp } = here;
    idp.accounts.set("ann", { groups: ["admins"] });
    const isCallback = (url: string) => url.includes(CALLBACK_PATH);
    const callbackOf = async (walker: Walker) => {
      const { url } = await walker.open(`${served.url}/session/oidc`);
      return (await walker.open(`${url}?user=ann`, isCallback)).url;
    };
    const refused = async (walker: Walker, url: string, why: RegExp) => {
      assert.equal((await walker.open(url)).url, `${served.url}/login`);
      assert.equal(walker.cookie(served.url, "orb_session"), undefined);
      const { sign_in_error: error } = await errorOf(served, walker.cookiesOf(served.url));
      assert.match(error ?? "", why);
    };
    // Somebody is led to the end of another one's sign-in.
    const attacker = new Walker();
    const foreign = await callbackOf(attacker);
    await refused(new Walker(), foreign, /not started in this browser/);
    const victim = new Walker();
    await victim.open(`${served.url}/session/oidc`);
    await refused(victim, foreign, /Another sign-in was started/);
    // Texts of strangers are not shown.
    const spoofed = new Walker();
    await spoofed.open(`${served.url}/session/oidc`);
    const text = `${served.url}${CALLBACK_PATH}?error=access_denied&error_description=Call+555`;
    await refused(spoofed, text, /^The provider sent an answer that is not valid/);
    // A code is used once.
    const walker = new Walker();
    const own = await callbackOf(walker);
    const started = walker.cookie(served.url, "orb_sign_in") ?? "";
    assert.equal((await walker.open(own)).url, `${served.url}/`);
    const replayed = await fetch(own, { redirect: "manual", headers: { cookie: `orb_sign_in=${started}` } });
    assert.equal(replayed.headers.get("location"), `${served.url}/login`);
    assert.ok(!replayed.headers.getSetCookie().some((line) => line.startsWith("orb_session=")));
    // The provider that answers must be the one that was asked.
    const mixed = new Walker();
    const mixedUrl = new URL(await callbackOf(mixed));
    mixedUrl.searchParams.set("iss", "https://another.example");
    await refused(mixed, mixedUrl.href, /not valid/);
  });

  test("that takes too long starts anew [slow]", async (t) => {
    const clock = new FakeClock();
    const here = await openSignIn(t, { clock });
    here.idp.accounts.set("ann", { groups: ["staff"] });
    const walker = new Walker();
    const { url } = await walker.open(`${here.served.url}/session/oidc`);
    clock.jump(901_000);
    assert.equal((await walker.open(`${url}?user=ann`)).url, `${here.served.url}/login`);
  });
});

describe("over TLS", () => {
  test("all cookies of a sign-in are sent over TLS alone", async (t) => {
    const provider: IdentityProvider = {
      issuer: "https://id.example",
      clientId: "orb",
      name: "id",
      publicUrl: "https://orb.example",
      sessionMs: HOUR,
      begin: async () => ({
        url: "https://id.example/auth",
        checks: { state: "s".repeat(43), nonce: "n".repeat(43), codeVerifier: "v".repeat(43) },
      }),
      complete: async () => ({ issuer: "https://id.example", subject: "1", name: "ann", groups: ["staff"] }),
    };
    const singleSignOn = { roles: ROLES, provider, forwarded: null };
    const served = await openTestApi(t, { settings: { token: TOKEN, publicUrl: provider.publicUrl }, singleSignOn });
    const started = await served.get("/session/oidc");
    assert.equal(started.headers["location"], "https://id.example/auth");
    const set = String(started.headers["set-cookie"]);
    assert.match(set, /^__Host-orb_sign_in=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=900; Secure$/);
    // A proxy on this machine passes the name on under which people know the server.
    const cookie = set.split(";")[0] ?? "";
    const done = await served.get(`${CALLBACK_PATH}?code=1`, { cookie, host: "orb.example" });
    assert.equal(done.headers["location"], "https://orb.example/");
    const [session = "", ended = ""] = [done.headers["set-cookie"]].flat();
    assert.match(session, /^orb_session=p\..*; SameSite=Strict; Max-Age=3600; Secure$/);
    assert.match(ended, /^__Host-orb_sign_in=; .*Max-Age=0; Secure$/);
    // Without TLS a neighbour in the domain could have set it.
    const planted = await served.get(`${CALLBACK_PATH}?code=1`, { cookie: cookie.slice("__Host-".length) });
    assert.equal(planted.headers["location"], "https://orb.example/login");
    assert.equal((await served.get("/session", { host: "another.example" })).status, 421);
  });
});

test("a person is led to paths of this server alone", () => {
  for (const path of ["/", "/runs?state=failed#x", "/jobs/1/quality"]) assert.equal(ownPath(path), path);
  for (const path of [
    undefined,
    "",
    "runs",
    "//evil.test",
    "/\\evil.test",
    "https://evil.test",
    "/a\r\nb",
    `/${"a".repeat(3000)}`,
  ])
    assert.equal(ownPath(path), "/", path);
});

test("a server without a provider has no sign-in, and one with a provider or proxy does not start without a token", async (t) => {
  const served = await openTestApi(t, { settings: { token: TOKEN } });
  for (const path of ["/session/oidc", CALLBACK_PATH]) assert.equal((await served.get(path)).status, 404);
  const forwarded = { header: "remote-user", groupsHeader: null, proxies: ["127.0.0.1/32"] };
  const singleSignOn = { roles: ROLES, provider: null, forwarded };
  const { deps, close } = openBackstage(t, { singleSignOn });
  t.after(close);
  await assert.rejects(createApi(deps), (error) => isOrbError(error, "config_invalid"));
});

function clientOf(provider: IdentityProvider, clientId: string): IdentityProvider {
  return Object.create(provider, { clientId: { value: clientId } }) as IdentityProvider;
}
