/** A provider that says what a test makes it say: real ones do not send what must be refused. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../src/base/clock.ts";
import type { SignInChecks } from "../../src/domain/access/identity-provider.ts";
import { OidcProvider, type OidcOptions } from "../../src/identity/oidc-provider.ts";

export const CLIENT = "orbweaver";
const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEY = newKey();

export interface Token {
  header?: Record<string, unknown>;
  /** Added to right claims; undefined: left out. */
  claims?: Record<string, unknown>;
  key?: KeyObject;
  /** Signs symmetrically instead. */
  secret?: string;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export class HostileProvider implements AsyncDisposable {
  readonly url: string;
  /** Added to the right description of itself. */
  metadata: Record<string, unknown> = {};
  /** Instead of the right answer, by path. */
  readonly answers = new Map<string, Answer>();
  token: Token = {};
  /** The form of the last call to the token endpoint, and its Authorization header. */
  asked: { form: URLSearchParams; authorization: string | undefined } | null = null;
  #checks: SignInChecks | null = null;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<HostileProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return new HostileProvider(server);
  }

  client(options: Partial<OidcOptions> = {}): OidcProvider {
    return new OidcProvider({
      issuer: this.url,
      clientId: CLIENT,
      clientSecret: "a secret:with%signs",
      publicUrl: "http://127.0.0.1:1",
      scopes: "openid",
      groupsClaim: "groups",
      clock: systemClock,
      userAgent: "orb-test",
      ...options,
    });
  }

  /** A whole sign-in; the query is what the person is sent back with. */
  async signIn(client = this.client(), query: (state: string) => string = (state) => `code=1&state=${state}`) {
    const { checks } = await client.begin();
    this.#checks = checks;
    return client.complete(query(checks.state), checks);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    if (pathname === "/token") this.asked = { form, authorization: request.headers.authorization };
    const own = this.answers.get(pathname);
    if (own !== undefined) return own(request, response);
    const bodies: Record<string, () => unknown> = {
      "/.well-known/openid-configuration": () => ({
        issuer: this.url,
        authorization_endpoint: `${this.url}/auth`,
        token_endpoint: `${this.url}/token`,
        jwks_uri: `${this.url}/jwks`,
        response_types_supported: ["code"],
        id_token_signing_alg_values_supported: ["ES256"],
        ...this.metadata,
      }),
      "/jwks": () => ({ keys: [{ ...KEY.publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "ES256" }] }),
      "/token": () => ({ access_token: "at", token_type: "bearer", expires_in: 60, id_token: this.#idToken() }),
    };
    const body = bodies[pathname];
    if (body === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body()));
  }

  #idToken(): string {
    const { header, claims, key = KEY.privateKey, secret } = this.token;
    const now = Math.floor(systemClock.now() / 1000);
    const right = { iss: this.url, sub: "ann", aud: CLIENT, iat: now, exp: now + 300, nonce: this.#checks?.nonce };
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const text = `${part({ alg: "ES256", kid: "1", ...header })}.${part({ ...right, ...claims })}`;
    if (header?.["alg"] === "none") return `${text}.`;
    const signature =
      secret === undefined
        ? sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" })
        : createHmac("sha256", secret).update(text).digest();
    return `${text}.${signature.toString("base64url")}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

export const anotherKey = () => newKey().privateKey;
export const inSeconds = (seconds: number) => Math.floor(systemClock.now() / 1000) + seconds;
