/** A gate in front of a real server, which can do what networks and proxies do. */
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the gate does with a call; undefined: it lets it through. */
export type Trick = (request: IncomingMessage, nth: number) => Answer | "break" | "break behind" | undefined;

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Gate extends AsyncDisposable {
  url: string;
  /** The calls that came, in order. */
  seen: { method: string; path: string; headers: IncomingMessage["headers"]; at: number }[];
  /** Cuts every connection. */
  cut(): void;
}

/** `target` may move, as a server that is started again. */
export async function openGate(target: string | (() => string), trick: Trick = () => undefined): Promise<Gate> {
  const seen: Gate["seen"] = [];
  const server = createServer((request, response) => {
    seen.push({
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      at: performance.now(),
    });
    const what = trick(request, seen.length);
    if (what === "break") request.socket.destroy();
    else if (what === undefined || what === "break behind")
      pass(typeof target === "string" ? target : target(), request, response, what !== undefined);
    else response.writeHead(what.status, what.headers).end(what.body ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    cut: () => server.closeAllConnections(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

/** `cut`: the server does what it was asked, and its answer is lost. */
function pass(target: string, request: IncomingMessage, response: ServerResponse, cut: boolean): void {
  const { host } = new URL(target);
  // A page that was loaded from here calls from the same origin.
  const origin = request.headers.origin === undefined ? {} : { origin: target };
  const sent = forward(
    `${target}${request.url ?? ""}`,
    { method: request.method, headers: { ...request.headers, host, ...origin } },
    (answer) => {
      if (cut) {
        answer.resume().once("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    },
  );
  sent.once("error", () => response.destroy());
  response.once("close", () => sent.destroy());
  request.pipe(sent);
}
