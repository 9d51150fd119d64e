import { Agent, request } from "undici";
import { createClient, isOrbweaverError, type OrbweaverClient } from "../../api-client/client.ts";
import { OrbError } from "../../base/errors.ts";

interface Remote {
  client: OrbweaverClient;
  close(): Promise<void>;
}

/** Few, so that a user soon learns that the server does not answer. */
const RETRIES = 2;

/** The API of a remote server; the token is sent only there. */
export function openRemote(address: string, token: string | null): Remote {
  const dispatcher = new Agent({ headersTimeout: 130_000, connect: { timeout: 10_000 } });
  try {
    const client = createClient({
      url: address,
      token,
      retries: RETRIES,
      headers: { "orb-client": "cli" },
      fetch: async (url, { method, headers, body, signal }) => {
        const answer = await request(url, { method: method as "GET", dispatcher, headers, body: body ?? null, signal });
        const get = (name: string) => {
          const value = answer.headers[name];
          return value === undefined ? null : [value].flat().join(", ");
        };
        return { status: answer.statusCode, headers: { get }, body: answer.body };
      },
    });
    return { client, close: () => dispatcher.destroy() };
  } catch (error) {
    if (!isOrbweaverError(error, "input_invalid")) throw error;
    throw new OrbError("input_invalid", `--${error.message}`, { cause: error, fields: error.errors });
  }
}
