import { Agent, request } from "undici";
import { OrbError, systemCode } from "../../base/errors.ts";
import type { Send } from "./caller.ts";

export interface Remote {
  send: Send;
  close(): Promise<void>;
}

/** The API of a server, at its address; the token is sent there and nowhere else. */
export function openRemote(address: string, token: string | null): Remote {
  const base = baseOf(address);
  // An event stream is silent for 15 s at most; a stream that says nothing for long is dead.
  const dispatcher = new Agent({ bodyTimeout: 60_000, headersTimeout: 130_000, connect: { timeout: 10_000 } });
  return {
    send: async ({ method, path, headers, body, signal }) => {
      try {
        const answer = await request(`${base}${path}`, {
          method: method as "GET",
          dispatcher,
          headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
          body: body ?? null,
          ...(signal === undefined ? {} : { signal }),
        });
        const flat = Object.entries(answer.headers).map(([name, value]) => [name, [value ?? ""].flat().join(", ")]);
        return { status: answer.statusCode, headers: Object.fromEntries(flat), stream: answer.body };
      } catch (error) {
        if (signal?.aborted === true) throw error;
        throw unreachable(base, error);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

function baseOf(address: string): string {
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "" && url.hash === "")
    return url.href.replace(/\/+$/, "");
  const message = "expected the address of a server, such as http://127.0.0.1:8000";
  throw new OrbError("input_invalid", `--url: ${message}`, { fields: [{ path: "url", message }] });
}

function unreachable(base: string, error: unknown): OrbError {
  const why = {
    ECONNREFUSED: "the connection was refused",
    ENOTFOUND: "there is no such host",
    UND_ERR_CONNECT_TIMEOUT: "the connection took too long",
    UND_ERR_SOCKET: "the connection broke off",
    ECONNRESET: "the connection broke off",
  }[systemCode(error) ?? ""];
  return new OrbError("fetch_failed", `no answer from ${base}: ${why ?? "the call failed"}`, {
    cause: error,
    hint: "Is orb serve running there? Look at the address and the port of --url.",
  });
}
