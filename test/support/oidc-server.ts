/** A certified identity provider (`oidc-provider`) on loopback, with people in groups and keys that change. */
import { generateKeyPairSync, type JsonWebKey } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";

export const CLIENT_ID = "orbweaver";
export const CLIENT_SECRET = "a-secret-of-the-client-0815";
/** Its keys are made in no time, unlike those of RSA. */
const ALG = "ES256";
export const ABORTED = "The person went away";

interface Account {
  groups?: readonly string[];
  email?: string;
}

interface ServerOptions {
  /** Where people are sent back. */
  callback: string;
  /** False: groups and e-mail come from the userinfo endpoint alone, as the specification says. */
  inIdToken?: boolean;
  /** `localhost` is another site than 127.0.0.1, as providers are. */
  host?: string;
}

interface Context {
  oidc: {
    provider: { Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> } };
    client: { clientId: string };
    session: { accountId: string };
  };
}

let made = 0;

export class OidcServer implements AsyncDisposable {
  readonly url: string;
  /** May be changed while it runs. */
  readonly accounts = new Map<string, Account>();
  readonly #server: Server;
  readonly #options: ServerOptions;
  /** Of all its keys. */
  readonly #adapter = createMemoryAdapter(15);
  #provider: Provider;
  /** Requests by path. */
  readonly requests: string[] = [];

  private constructor(server: Server, options: ServerOptions) {
    this.#server = server;
    this.#options = options;
    this.url = `http://${options.host ?? "127.0.0.1"}:${(server.address() as AddressInfo).port}`;
    this.#provider = this.#open();
    server.on("request", (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
      this.requests.push(pathname);
      if (!pathname.startsWith("/interaction/")) return void this.#provider.callback()(request, response);
      const user = searchParams.get("user");
      const finish = (result: object) =>
        void this.#provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
      if (user !== null) return finish({ login: { accountId: user } });
      if (searchParams.has("abort")) return finish({ error: "access_denied", error_description: ABORTED });
      return void response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
    });
  }

  static async start(options: ServerOptions): Promise<OidcServer> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return new OidcServer(server, options);
  }

  /** Keys that nobody has seen before sign from now on; the others are gone. */
  rotateKeys(): void {
    this.#provider = this.#open();
  }

  #open(): Provider {
    const { callback, inIdToken = true } = this.#options;
    return new Provider(this.url, {
      adapter: this.#adapter,
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [callback],
          id_token_signed_response_alg: ALG,
        },
      ],
      enabledJWA: { idTokenSigningAlgValues: [ALG] },
      jwks: { keys: [newKey()] },
      cookies: { keys: ["of tests"] },
      claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
      scopes: ["openid", "profile", "email", "groups"],
      conformIdTokenClaims: !inIdToken,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      ttl: { AuthorizationCode: 60, AccessToken: 600, IdToken: 600, Interaction: 600, Session: 600, Grant: 600 },
      findAccount: (_: unknown, id: string) => {
        const account = this.accounts.get(id);
        if (account === undefined) return undefined;
        const { email, groups } = account;
        const claims = {
          sub: id,
          name: `Name of ${id}`,
          ...(groups && { groups }),
          ...(email && { email, email_verified: true }),
        };
        return { accountId: id, claims: () => claims };
      },
      // Nobody is asked for consent.
      loadExistingGrant: async ({ oidc }: Context) => {
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope("openid profile email groups");
        await grant.save();
        return grant;
      },
      renderError: (ctx: { body: string }, out: object) => void (ctx.body = JSON.stringify(out)),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

const PAGE = `<!doctype html><html lang="en"><title>Provider</title><h1>Who are you?</h1>
<form><label>User <input name="user"></label><button>Continue</button><button name="abort" value="1">Cancel</button></form>`;

function newKey(): JsonWebKey & { kid: string } {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: ALG, use: "sig", kid: `key-${(made += 1)}` };
}
