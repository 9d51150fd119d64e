/** A server whose people sign in through a real provider on loopback. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Clock } from "../../src/base/clock.ts";
import { systemClock } from "../../src/base/clock.ts";
import type { GroupRoles } from "../../src/domain/access/group-roles.ts";
import { CALLBACK_PATH, type IdentityProvider } from "../../src/domain/access/identity-provider.ts";
import { OidcProvider } from "../../src/identity/oidc-provider.ts";
import { CLIENT_ID, CLIENT_SECRET, OidcServer } from "../support/oidc-server.ts";
import { Walker } from "../support/walker.ts";
import { openTestApi, type TestApi, type TestApiOptions, TOKEN } from "./kit.ts";

export const HOUR = 3_600_000;
export const ROLES: GroupRoles = { admins: "admin", makers: "operator", staff: "viewer" };

export interface SignIn {
  served: TestApi;
  idp: OidcServer;
  provider: IdentityProvider;
  /** Where the walk through the provider as this person ends. */
  signIn(user: string, walker?: Walker, to?: string): Promise<{ walker: Walker; end: string }>;
  /** Headers of a page of the dashboard after that. */
  headersOf(walker: Walker): { cookie: string; origin: string };
  /** Signs in, which must succeed. */
  headersFor(user: string): Promise<{ cookie: string; origin: string }>;
}

export async function openSignIn(
  t: TestContext,
  { roles = ROLES, inIdToken = true, clock = systemClock, ...options }: Options = {},
): Promise<SignIn> {
  // Each of the two needs the address of the other.
  const late = { issuer: "", publicUrl: "" };
  const address = {
    get issuer() {
      return late.issuer;
    },
    get publicUrl() {
      return late.publicUrl;
    },
    clientId: CLIENT_ID,
  };
  const more = { clientSecret: CLIENT_SECRET, scopes: "openid profile email groups", groupsClaim: "groups" };
  const oidc = new OidcProvider(
    Object.assign(Object.create(address) as typeof address, { ...more, clock, userAgent: "orb-test" }),
  );
  const provider: IdentityProvider = Object.assign(Object.create(address) as typeof address, {
    name: "Testers' Gate",
    sessionMs: 8 * HOUR,
    begin: () => oidc.begin(),
    complete: (...args: Parameters<IdentityProvider["complete"]>) => oidc.complete(...args),
  });
  const singleSignOn = { roles, provider, forwarded: null };
  const served = await openTestApi(t, { ...options, clock, settings: { token: TOKEN }, singleSignOn });
  late.publicUrl = served.url;
  const idp = await OidcServer.start({ callback: `${served.url}${CALLBACK_PATH}`, inIdToken });
  t.after(() => idp[Symbol.asyncDispose]());
  late.issuer = idp.url;
  const headersOf = (walker: Walker) => ({ cookie: walker.cookiesOf(served.url), origin: served.url });
  const signIn = async (user: string, walker = new Walker(), to = "/") => {
    const asked = await walker.open(`${served.url}/session/oidc?to=${encodeURIComponent(to)}`);
    // A provider that remembers the person asks nothing.
    if (!asked.url.includes("/interaction/")) return { walker, end: asked.url };
    const { url } = await walker.open(`${asked.url}?user=${user}`);
    return { walker, end: url };
  };
  return {
    served,
    idp,
    provider,
    signIn,
    headersOf,
    headersFor: async (user) => {
      const { walker, end } = await signIn(user);
      assert.equal(end, `${served.url}/`, (await served.get("/session", headersOf(walker))).text);
      return headersOf(walker);
    },
  };
}

interface Options extends Omit<TestApiOptions, "singleSignOn" | "settings"> {
  roles?: GroupRoles;
  inIdToken?: boolean;
  clock?: Clock;
}
