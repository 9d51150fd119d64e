import { createServer } from "node:net";
import { OrbError } from "../../base/errors.ts";

const TRIED = 200;

/** The first free port from this one on. */
export async function freePort(from: number): Promise<number> {
  for (let port = from; port < Math.min(from + TRIED, 65_536); port += 1) if (await isFree(port)) return port;
  throw new OrbError("service_unavailable", `no port from ${from} to ${from + TRIED - 1} is free on 127.0.0.1`);
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
