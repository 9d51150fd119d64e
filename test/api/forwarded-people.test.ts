import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { describe, test, type TestContext } from "node:test";
import { ForwardedPeople } from "../../src/api/access/forwarded-person.ts";
import type { ForwardedAuth } from "../../src/api/deps.ts";
import type { ApiRequest } from "../../src/api/instance.ts";
import { closeCodeOf } from "../../src/api/routes/pages/live-views.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { grantingGroup, type GroupRoles } from "../../src/domain/access/group-roles.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { openTestApi, type TestApi, TOKEN } from "./kit.ts";

const admin = { authorization: `Bearer ${TOKEN}` };
const ROLES: GroupRoles = { admins: "admin", makers: "operator", staff: "viewer" };

interface Me {
  kind?: string;
  id?: string;
  name?: string;
  role?: string;
  code?: string;
  detail?: string;
}

const open = (t: TestContext, forwarded: Partial<ForwardedAuth> = {}, roles = ROLES, clock: Clock = systemClock) =>
  openTestApi(t, {
    clock,
    settings: { token: TOKEN },
    singleSignOn: {
      roles,
      provider: null,
      forwarded: { header: "remote-user", groupsHeader: "remote-groups", proxies: ["127.0.0.1/32"], ...forwarded },
    },
  });

const person = (user: string, groups = "staff") => ({ "remote-user": user, "remote-groups": groups });
const me = async (served: TestApi, headers: Record<string, string>) =>
  (await served.get("/keys/me", headers)).json<Me>();

/** From another address of this machine, or with headers that occur twice. */
function callFrom(served: TestApi, localAddress: string, headers: Record<string, string | string[]>): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = httpRequest({ host: "127.0.0.1", port: served.port, path: "/keys/me", localAddress, headers });
    call.once("error", reject);
    call.once("response", (response) => void response.resume().once("end", () => resolve(response.statusCode ?? 0)));
    call.end();
  });
}

test("a live view whose key is revoked ends for good, and one whose session has ended connects again to say whose it is", () => {
  assert.equal(closeCodeOf("revoked"), 4401);
  assert.equal(closeCodeOf("ended"), 1001);
});

describe("a person whom a listed proxy names", () => {
  test("has the role of their groups, and no other", async (t) => {
    const served = await open(t);
    const { kind, id, name, role } = await me(served, person("ann", "others, staff"));
    assert.deepEqual([kind, id, name, role], ["person", "proxy#ann", "ann", "viewer"]);
    assert.equal((await me(served, person("ann", "staff|makers"))).role, "operator");
    const own = { ...person("ann"), origin: served.url };
    assert.equal((await served.send("POST", "/runs", {}, own)).json<Me>().code, "role_missing");
    const body = { name: "shop", target_url: "https://a.example/", fields: { title: "h1" } };
    const maker = { ...person("b\u00f6b", "makers"), origin: served.url };
    // As proxies send it: in UTF-8.
    maker["remote-user"] = Buffer.from(maker["remote-user"]).toString("latin1");
    assert.equal((await served.send("POST", "/jobs", body, maker)).status, 201);
    const log = (await served.get("/audit-log?actor_kind=person", admin)).json<{ actor: object; action: string }[]>();
    assert.deepEqual(log[0]?.actor, { kind: "person", id: "proxy#böb", name: "böb" });
    const session = (await served.get("/session", own)).json<Record<string, unknown>>();
    assert.deepEqual(
      [session["logged_in"], session["can_log_out"], session["caller"]],
      [true, false, { kind: "person", name: "ann", role: "viewer" }],
    );
  });

  test("without a role is refused, and told so", async (t) => {
    const served = await open(t);
    for (const groups of ["", "strangers", "__proto__", "toString,constructor"]) {
      const refused = await served.get("/keys/me", person("eve", groups));
      assert.deepEqual([refused.status, refused.json<Me>().code], [403, "role_missing"], groups);
      assert.match(refused.json<Me>().detail ?? "", /none of the groups of eve has a role here/);
    }
    const login = (await served.get("/session", person("eve", ""))).json<Record<string, unknown>>();
    assert.deepEqual(
      [login["logged_in"], login["sign_in_error"]],
      [false, "none of the groups of eve has a role here. Ask an admin of this server."],
    );
    const everybody = await open(t, { groupsHeader: null }, { "*": "viewer", admins: "admin" });
    assert.equal((await me(everybody, person("eve", "admins"))).role, "viewer", "that header is not asked for");
  });

  test("changes something from a page of this server alone", async (t) => {
    const served = await open(t);
    const pause = async (headers: Record<string, string>) =>
      (
        await served.call({
          method: "POST",
          path: "/sites/a.test/pause",
          headers: { ...person("ann", "makers"), ...headers },
        })
      ).status;
    assert.equal(await pause({}), 403);
    assert.equal(await pause({ origin: "http://evil.test" }), 403);
    assert.equal(await pause({ "sec-fetch-site": "cross-site" }), 403);
    assert.equal(await pause({ origin: served.url }), 200);
    assert.equal(await pause({ ...admin }), 200, "a token was sent on purpose");
  });

  test("is who they are, whatever login is left in the browser; a key or token that is sent counts more", async (t) => {
    const served = await open(t);
    const login = await served.send("POST", "/session", { token: TOKEN });
    const cookie = String(login.headers["set-cookie"]).split(";")[0] ?? "";
    assert.equal((await me(served, { cookie })).role, "admin");
    assert.equal((await me(served, { cookie, ...person("ann") })).name, "ann");
    assert.equal((await me(served, { ...admin, ...person("ann") })).kind, "token");
    const wrongKey = { authorization: `Bearer orb_${"x".repeat(43)}` };
    assert.equal((await me(served, { ...wrongKey, ...person("ann") })).code, "unauthorized");
    assert.equal((await me(served, { authorization: "Bearer of-the-proxy", ...person("ann") })).name, "ann");
  });
});

describe("a person who sends wrong secrets through the proxy", () => {
  const guess = (n: number) => ({ authorization: `Bearer guess-${n}` });

  /** After as many wrong ones as are answered at once. */
  async function guessed(t: TestContext, clock: FakeClock, who: Record<string, string>, status: number) {
    const served = await open(t, {}, ROLES, clock);
    for (let n = 0; n < 10; n += 1)
      assert.equal((await served.get("/keys/me", { ...who, ...guess(n) })).status, status, "people mistype");
    /** On a connection of its own: what waits on one keeps others on it waiting. */
    const slow = (path: string, headers: Record<string, string>) => {
      const call = { answered: false, status: Promise.resolve(0) };
      call.status = fetch(`${served.url}${path}`, { headers: { ...who, ...headers } }).then((answer) => {
        call.answered = true;
        return answer.status;
      });
      return call;
    };
    const pass = () => {
      const passing = setInterval(() => void clock.advance(1000), 5);
      t.after(() => clearInterval(passing));
    };
    return { served, slow, pass };
  }

  test("waits for the answer to each further one; the right one, other calls and other people do not", async (t) => {
    const ann = person("ann");
    const { served, slow, pass } = await guessed(t, new FakeClock(), ann, 200);
    const waiting = [slow("/keys/me", guess(10)), slow("/session", guess(11)), slow("/keys/me", guess(10))];
    assert.equal((await me(served, { ...ann, ...admin })).kind, "token");
    for (const headers of [ann, { ...ann, ...guess(9) }, { ...person("bob"), ...guess(10) }, admin])
      assert.equal((await served.get("/keys/me", headers)).status, 200);
    assert.equal((await served.get("/keys/me", guess(12))).status, 401, "the address of the proxy is not throttled");
    assert.deepEqual(
      waiting.map(({ answered }) => answered),
      [false, false, false],
    );
    pass();
    for (const { status } of waiting) assert.equal(await status, 200);
  });

  test("waits without a role as well", async (t) => {
    const { slow, pass } = await guessed(t, new FakeClock(), person("eve", ""), 403);
    const waiting = slow("/keys/me", guess(10));
    for (let n = 0; n < 10; n += 1)
      assert.equal(await slow("/keys/me", admin).status, 200, "the right one does not wait");
    assert.equal(waiting.answered, false);
    pass();
    assert.equal(await waiting.status, 403);
  });

  test("never waits if it is the same one each time, as a browser or a proxy sends it of another system", async (t) => {
    const served = await open(t, {}, ROLES, new FakeClock());
    const basic = { authorization: `Basic ${Buffer.from("ann:of another system").toString("base64")}` };
    for (const path of ["/keys/me", "/docs/json", "/session"])
      for (const authorization of [basic, guess(1)])
        for (let n = 0; n < 20; n += 1)
          assert.equal((await served.get(path, { ...person("ann"), ...authorization })).status, 200);
  });
});

describe("the header of a person", () => {
  test("from any other address is ignored, whatever else the request says", async (t) => {
    const served = await open(t);
    const lies = {
      ...person("root", "admins"),
      "x-forwarded-for": "127.0.0.1",
      forwarded: "for=127.0.0.1",
      "x-real-ip": "127.0.0.1",
      via: "1.1 127.0.0.1",
    };
    assert.equal(await callFrom(served, "127.0.0.1", person("root", "admins")), 200);
    assert.equal(await callFrom(served, "127.0.0.2", person("root", "admins")), 401);
    assert.equal(await callFrom(served, "127.0.0.2", lies), 401);
    assert.equal(await callFrom(served, "127.0.0.2", { ...lies, ...admin }), 200, "with the token it is the token");
    const far = await open(t, { proxies: ["10.0.0.0/8", "fd00::/8"] });
    for (const headers of [lies, { ...lies, "x-forwarded-for": "10.1.2.3" }]) {
      const { status, headers: answered } = await far.get("/keys/me", headers);
      assert.deepEqual([status, answered["www-authenticate"]], [401, 'Bearer realm="orb"']);
      assert.equal((await far.get("/session", headers)).json<{ logged_in: boolean }>().logged_in, false);
    }
  });

  test("twice in a request, too long or empty, names nobody", async (t) => {
    const served = await open(t);
    assert.equal(
      await callFrom(served, "127.0.0.1", { "remote-user": ["root", "ann"], "remote-groups": "admins" }),
      400,
    );
    assert.equal(
      await callFrom(served, "127.0.0.1", { "remote-user": "ann", "remote-groups": ["admins", "staff"] }),
      400,
    );
    assert.equal((await served.get("/keys/me", person("x".repeat(300)))).status, 400);
    for (const nobody of ["", "  "]) assert.equal((await served.get("/keys/me", person(nobody, "admins"))).status, 401);
    assert.equal((await served.get("/keys/me", { "remote-groups": "admins" })).status, 401);
    assert.equal((await served.get("/keys/me", { Remote_User: "root", "remote-groups": "admins" })).status, 401);
  });

  test("is accepted from every address of a network, also where IPv6 sockets carry IPv4", async (t) => {
    const served = await open(t, { proxies: ["10.0.0.0/8", "127.0.0.0/24"] });
    assert.equal(await callFrom(served, "127.0.0.9", person("ann")), 200);
    assert.equal(await callFrom(served, "127.0.1.9", person("ann")), 401);
    const auth = { header: "remote-user", groupsHeader: "remote-groups", proxies: ["10.0.0.0/8", "fd00::/8"] };
    const people = new ForwardedPeople(auth, ROLES);
    const rawHeaders = ["Remote-User", "ann", "Remote-Groups", "staff"];
    const isHeard = (ip: string) => people.principalOf({ ip, raw: { rawHeaders } } as ApiRequest) !== null;
    for (const ip of ["10.255.0.1", "::ffff:10.0.0.1", "fd00::1", "fd00::1%eth0"]) assert.ok(isHeard(ip), ip);
    for (const ip of ["11.0.0.1", "::ffff:11.0.0.1", "fe80::1%eth0", "::1", "::10.0.0.1", ""])
      assert.ok(!isHeard(ip), ip);
  });
});

test("of several groups the highest role counts, and `*` is everybody", () => {
  const roles: GroupRoles = { "*": "viewer", admins: "admin", makers: "operator" };
  assert.equal(grantingGroup([], roles), "*");
  assert.equal(grantingGroup(["makers", "admins", "x"], roles), "admins");
  assert.equal(grantingGroup(["hasOwnProperty", "__proto__"], roles), "*");
  assert.equal(grantingGroup(["x"], ROLES), null);
});
