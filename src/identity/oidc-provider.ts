/** Sign-in through an OpenID Connect provider: authorization code with PKCE, state and nonce. */
import * as oidc from "openid-client";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import {
  CALLBACK_PATH,
  type IdentityProvider,
  type SignInChecks,
  SignInFailure,
} from "../domain/access/identity-provider.ts";
import type { PersonInGroups } from "../domain/access/person.ts";
import { type Claims, claimAt, groupsIn, nameIn } from "./claims.ts";
import { openProviderClient, TIMEOUT_MS } from "./provider-fetch.ts";
import { signInFailure } from "./sign-in-problems.ts";

export interface OidcOptions {
  issuer: string;
  clientId: string;
  /** Null: a public client. */
  clientSecret: string | null;
  publicUrl: string;
  scopes: string;
  groupsClaim: string;
  clock: Clock;
  userAgent: string;
}

/** The provider's description of itself changes rarely, and everybody may start a sign-in. */
const METADATA_MS = 300_000;
/** Clocks may differ by so much. */
const TOLERANCE_SECONDS = 60;

export class OidcProvider implements Pick<IdentityProvider, "begin" | "complete"> {
  readonly #options: OidcOptions;
  #metadata: { value: Promise<oidc.ServerMetadata>; until: number } | null = null;

  constructor(options: OidcOptions) {
    this.#options = options;
  }

  async begin(): Promise<{ url: string; checks: SignInChecks }> {
    try {
      const config = this.#configuration(await this.#describe());
      const checks = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        codeVerifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: this.#callback,
        scope: this.#options.scopes,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(checks.codeVerifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, checks };
    } catch (error) {
      throw signInFailure(error);
    }
  }

  async complete(query: string, { state, nonce, codeVerifier }: SignInChecks): Promise<PersonInGroups> {
    try {
      // A new configuration for each sign-in: the provider's keys are then read anew, so that a new one is known at once.
      const config = this.#configuration(await this.#describe());
      await using client = openProviderClient(this.#options);
      config[oidc.customFetch] = client.fetch;
      // The signature is checked too, not only the connection.
      oidc.enableNonRepudiationChecks(config);
      const tokens = await oidc.authorizationCodeGrant(config, new URL(`${this.#callback}?${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const idToken = tokens.claims();
      if (idToken === undefined) throw new Error("the provider sent no ID token");
      const claims = await this.#allClaims(config, tokens.access_token, idToken);
      const { sub: subject, iss: issuer } = idToken;
      return { issuer, subject, name: nameIn(claims, subject), groups: groupsIn(claims, this.#options.groupsClaim) };
    } catch (error) {
      throw signInFailure(error);
    }
  }

  /** Some providers send groups and e-mail only from their userinfo endpoint. */
  async #allClaims(config: oidc.Configuration, accessToken: string, idToken: oidc.IDToken): Promise<Claims> {
    const isComplete = claimAt(idToken, this.#options.groupsClaim) !== undefined;
    if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return idToken;
    const more = await oidc.fetchUserInfo(config, accessToken, idToken.sub);
    return { ...more, ...idToken };
  }

  get #callback(): string {
    return `${this.#options.publicUrl}${CALLBACK_PATH}`;
  }

  async #describe(): Promise<oidc.ServerMetadata> {
    const now = this.#options.clock.monotonic();
    if (this.#metadata !== null && now < this.#metadata.until) return this.#metadata.value;
    const entry = { value: this.#discover(), until: now + METADATA_MS };
    this.#metadata = entry;
    // A failure is not kept: the next sign-in asks again.
    entry.value.catch(() => {
      if (this.#metadata === entry) this.#metadata = null;
    });
    return entry.value;
  }

  async #discover(): Promise<oidc.ServerMetadata> {
    const { issuer, clientId } = this.#options;
    await using client = openProviderClient(this.#options);
    try {
      const config = await oidc.discovery(new URL(issuer), clientId, undefined, oidc.None(), {
        [oidc.customFetch]: client.fetch,
        timeout: TIMEOUT_MS / 1000,
        execute: this.#extensions,
      });
      return config.serverMetadata();
    } catch (error) {
      const cause = (error as { cause?: { body?: { issuer?: unknown } } }).cause;
      const named = cause?.body?.issuer;
      if (typeof named !== "string") throw error;
      throw new SignInFailure(
        "The provider has another issuer than APP_OIDC_ISSUER. Ask an admin of this server.",
        `APP_OIDC_ISSUER is ${issuer}, but the provider names itself ${named.slice(0, 300)}: ${messageOf(error)}`,
        error,
      );
    }
  }

  #configuration(metadata: oidc.ServerMetadata): oidc.Configuration {
    const { clientId, clientSecret } = this.#options;
    const config = new oidc.Configuration(
      metadata,
      clientId,
      { [oidc.clockTolerance]: TOLERANCE_SECONDS },
      authentication(metadata, clientSecret),
    );
    config.timeout = TIMEOUT_MS / 1000;
    for (const extend of this.#extensions) extend(config);
    return config;
  }

  /** Plain HTTP: the configuration allows it on loopback only. */
  get #extensions(): ((config: oidc.Configuration) => void)[] {
    return this.#options.issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [];
  }
}

/** Basic is the default of the specification; providers that do not offer it say so. */
function authentication(
  { token_endpoint_auth_methods_supported: methods }: oidc.ServerMetadata,
  secret: string | null,
): oidc.ClientAuth {
  if (secret === null) return oidc.None();
  const hasBasic = methods === undefined || methods.includes("client_secret_basic");
  return hasBasic ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret);
}
