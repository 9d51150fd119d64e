import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { examineProvider } from "../../src/app/doctor/provider.ts";
import { loadConfig } from "../../src/config/load.ts";
import { SignInFailure } from "../../src/domain/access/identity-provider.ts";
import { claimAt, groupsIn, nameIn } from "../../src/identity/claims.ts";
import { anotherKey, CLIENT, HostileProvider, inSeconds, type Token } from "./hostile-provider.ts";

async function failureOf(work: Promise<unknown>): Promise<SignInFailure> {
  const error = await work.then(
    (found) => assert.fail(`signed in: ${JSON.stringify(found)}`),
    (why: unknown) => why,
  );
  assert.ok(error instanceof SignInFailure, String(error));
  assert.match(error.message, /^[A-Z].*\.$/, "whole sentences");
  assert.ok(!/eyJ/.test(error.message + error.details), `no token is told or logged: ${error.details}`);
  return error;
}

/** Right but for one thing. */
const WRONG: [string, () => Token, RegExp][] = [
  ["for another audience", () => ({ claims: { aud: "another" } }), /not for this sign-in \(aud\)/],
  ["for several audiences, made for another", () => ({ claims: { aud: [CLIENT, "b"], azp: "b" } }), /not (for|valid)/],
  ["of another issuer", () => ({ claims: { iss: "https://evil.example" } }), /not for this sign-in \(iss\)/],
  ["with another nonce", () => ({ claims: { nonce: "another" } }), /not for this sign-in \(nonce\)/],
  ["without a nonce", () => ({ claims: { nonce: undefined } }), /not (for|valid)/],
  ["that expired two minutes ago", () => ({ claims: { exp: inSeconds(-120) } }), /expired or is not valid yet/],
  ["that is valid in two minutes", () => ({ claims: { nbf: inSeconds(120) } }), /expired or is not valid yet/],
  ["without an end", () => ({ claims: { exp: undefined } }), /not valid/],
  ["without a subject", () => ({ claims: { sub: undefined } }), /not valid/],
  ["signed by another key of the same name", () => ({ key: anotherKey() }), /signature/i],
  [
    "signed by a key that the provider does not name",
    () => ({ header: { kid: "2" }, key: anotherKey() }),
    /signature/i,
  ],
  ["without a signature", () => ({ header: { alg: "none" } }), /not valid/],
  ["signed with the secret", () => ({ header: { alg: "HS256" }, secret: "a secret:with%signs" }), /not valid/],
];

describe("a provider's token", () => {
  test("that is right names the person, also if the clocks differ a little", async () => {
    await using provider = await HostileProvider.start();
    provider.token = { claims: { groups: ["a"], email: "ann@example.com", exp: inSeconds(-30), nbf: inSeconds(30) } };
    const person = await provider.signIn();
    assert.deepEqual(person, { issuer: provider.url, subject: "ann", name: "ann@example.com", groups: ["a"] });
    const { form, authorization } = provider.asked!;
    assert.match(form.get("code_verifier") ?? "", /^[\w.~-]{43,}$/);
    assert.equal(form.get("redirect_uri"), "http://127.0.0.1:1/session/oidc/callback");
    const [user, secret] = Buffer.from((authorization ?? "").slice(6), "base64")
      .toString()
      .split(":");
    assert.deepEqual([user, decodeURIComponent((secret ?? "").replaceAll("+", " "))], [CLIENT, "a secret:with%signs"]);
  });

  for (const [what, token, why] of WRONG)
    test(`${what} signs nobody in`, async () => {
      await using provider = await HostileProvider.start();
      provider.token = token();
      const { message, details } = await failureOf(provider.signIn());
      assert.match(message, why, details);
    });
});

describe("a provider", () => {
  test("is asked as it wants to be: with a secret in the form, or without one", async () => {
    await using provider = await HostileProvider.start();
    provider.metadata = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    await provider.signIn();
    assert.equal(provider.asked?.form.get("client_secret"), "a secret:with%signs");
    await provider.signIn(provider.client({ clientSecret: null }));
    assert.deepEqual([provider.asked?.authorization, provider.asked?.form.has("client_secret")], [undefined, false]);
  });

  test("of another name is refused, with both names in the log", async () => {
    await using provider = await HostileProvider.start();
    provider.metadata = { issuer: "https://login.example/realms/main" };
    const { message, details } = await failureOf(provider.signIn());
    assert.match(message, /another issuer than APP_OIDC_ISSUER/);
    assert.ok(details.includes(provider.url) && details.includes("https://login.example/realms/main"), details);
  });

  test("is examined by the doctor: whether it answers, and under which name", async () => {
    await using provider = await HostileProvider.start();
    const env = {
      APP_API_TOKEN: "a-token-of-good-length-4711",
      APP_AUTH_ROLES: '{"staff":"viewer"}',
      APP_OIDC_ISSUER: provider.url,
      APP_OIDC_CLIENT_ID: CLIENT,
      APP_PUBLIC_URL: "https://orb.example/",
    };
    const { config } = loadConfig({ env, cwd: "/nowhere" });
    const [well] = await examineProvider(config);
    assert.equal(well?.status, "ok");
    assert.match(well?.what ?? "", /the redirect URI https:\/\/orb\.example\/session\/oidc\/callback$/);
    provider.metadata = { issuer: "https://login.example" };
    const [wrong] = await examineProvider(config);
    assert.equal(wrong?.status, "problem");
    assert.match(wrong?.what ?? "", /names itself https:\/\/login\.example/);
    assert.deepEqual(await examineProvider(loadConfig({ env: {}, cwd: "/nowhere" }).config), []);
  });

  test("that fails is asked again at the next sign-in", async () => {
    await using provider = await HostileProvider.start();
    const client = provider.client();
    provider.answers.set("/.well-known/openid-configuration", (_, response) => void response.writeHead(500).end());
    await failureOf(provider.signIn(client));
    provider.answers.clear();
    assert.equal((await provider.signIn(client)).subject, "ann");
  });

  test("that sends people or calls elsewhere, or too much, signs nobody in", async () => {
    await using provider = await HostileProvider.start();
    await using other = await HostileProvider.start();
    const redirect =
      (location: string) => (_: unknown, response: { writeHead(s: number, h: object): { end(): void } }) =>
        void response.writeHead(307, { location }).end();
    for (const path of ["/.well-known/openid-configuration", "/token", "/jwks"]) {
      provider.answers.clear();
      provider.answers.set(path, redirect(`${other.url}${path}`) as never);
      await failureOf(provider.signIn());
    }
    assert.equal(other.asked, null, "the code goes nowhere else");
    provider.answers.clear();
    provider.answers.set(
      "/jwks",
      (_, response) => void response.end(JSON.stringify({ keys: ["x".repeat(2_000_000)] })),
    );
    assert.match((await failureOf(provider.signIn())).message, /cannot be reached \(body_too_large\)/);
    provider.answers.clear();
    // A provider may be in a private network, but no address of the cloud's metadata is ever asked.
    provider.metadata = { jwks_uri: "http://169.254.169.254/jwks" };
    assert.match((await failureOf(provider.signIn())).message, /cannot be reached \(\w+\)/);
  });

  test("that refuses says why, in its own words or ours", async () => {
    await using provider = await HostileProvider.start();
    const refused = async (body: object, status = 400) => {
      provider.answers.set(
        "/token",
        (_, response) =>
          void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
      );
      return (await failureOf(provider.signIn())).message;
    };
    assert.match(await refused({ error: "invalid_grant" }), /took too long, or was used before/);
    assert.match(await refused({ error: "invalid_client" }, 401), /does not accept the client id or secret/);
    const long = `No\u202e licence\u0007 left. ${"x".repeat(5000)}`;
    const told = await refused({ error: "invalid_request", error_description: long });
    assert.match(told, /^The provider refused the sign-in: No licence left\. x+\.$/);
    assert.ok(told.length < 300);
    provider.answers.clear();
    const answer = (query: string) =>
      failureOf(provider.signIn(provider.client(), (state) => `${query}&state=${state}`));
    assert.equal((await answer("error=access_denied")).message, "The provider refused the sign-in: access denied.");
    assert.match((await answer("error=server_error")).message, /: server_error\.$/);
    assert.match((await answer("code=1&iss=https://evil.example")).message, /not valid/);
    assert.match((await answer("id_token=1")).message, /not valid/);
    const another = failureOf(provider.signIn(provider.client(), () => "code=1&state=another"));
    assert.match((await another).message, /Another sign-in was started/);
  });
});

test("groups are read from a claim of any form, and names from what the provider vouches for", () => {
  const claims = { groups: ["a", 1, "", null, "b"], "https://x.example/groups": "c", realm_access: { roles: ["d"] } };
  assert.deepEqual(groupsIn(claims, "groups"), ["a", "b"]);
  assert.deepEqual(groupsIn(claims, "https://x.example/groups"), ["c"]);
  assert.deepEqual(groupsIn(claims, "realm_access.roles"), ["d"]);
  for (const path of ["none", "groups.length", "realm_access.none", "constructor", "__proto__.groups", "realm_access"])
    assert.deepEqual(groupsIn(claims, path), path === "groups.length" ? [] : [], path);
  assert.equal(claimAt(claims, "toString"), undefined);
  assert.equal(nameIn({ email: "a@b.example", name: "Ann" }, "1"), "a@b.example");
  assert.equal(nameIn({ email: "a@b.example", email_verified: false, preferred_username: "ann" }, "1"), "ann");
  assert.equal(nameIn({ name: " An\u202en\n" }, "1"), "An n");
  assert.equal(nameIn({ name: 7 }, "the-subject"), "the-subject");
});
