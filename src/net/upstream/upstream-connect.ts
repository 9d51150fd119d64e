import type { Duplex } from "node:stream";
import type { FetchFailure } from "../../domain/run/failure.ts";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { signInRefused, tunnelRefused, unreachable } from "./upstream-failure.ts";

const MAX_HEAD_BYTES = 16 * 1024;
const BEGINNING = "HTTP/1.";
const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: [^\r\n]*)?$/;
const HEADER_LINE = /^[!#$%&'*+.^_`|~0-9a-z-]+:[^\r\n]*$/i;

/**
 * Requests a tunnel (CONNECT) from an HTTP proxy. Once it resolves, the peer of the stream is the destination. The
 * caller bounds the time and destroys the stream on rejection.
 */
export function askForTunnel(stream: Duplex, via: Upstream, address: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = "";
    const end = (failure: FetchFailure | null) => {
      stream.off("readable", read).off("end", hungUp).off("close", hungUp);
      if (failure === null) resolve();
      else reject(failure);
    };
    const read = () => {
      for (let chunk = stream.read() as Buffer | null; chunk !== null; chunk = stream.read() as Buffer | null) {
        head += chunk.toString("latin1");
        const answer = readAnswer(head, via);
        if (answer !== "incomplete") return end(answer);
      }
    };
    const hungUp = () => end(tunnelRefused(via, "it closed the connection without a response"));
    // `readable` leaves the stream neither flowing nor paused, so the next reader is free to choose.
    stream.on("readable", read).once("end", hungUp).once("close", hungUp);
    stream.write(request(via, address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`));
  });
}

function request({ credentials }: Upstream, authority: string): string {
  const pair = credentials === null ? "" : `${credentials.username}:${credentials.password}`;
  const signIn =
    credentials === null ? "" : `Proxy-Authorization: Basic ${Buffer.from(pair, "utf8").toString("base64")}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${signIn}\r\n`;
}

/** Null: the tunnel is established. */
function readAnswer(head: string, via: Upstream): FetchFailure | null | "incomplete" {
  if (!head.startsWith(BEGINNING.slice(0, head.length))) return unreachable(via, "it is not an HTTP proxy");
  const end = head.indexOf("\r\n\r\n");
  if ((end === -1 ? head.length : end) > MAX_HEAD_BYTES)
    return unreachable(via, "the headers of its response are too long");
  if (end === -1) return "incomplete";
  const [first = "", ...lines] = head.slice(0, end).split("\r\n");
  const status = Number(STATUS_LINE.exec(first)?.[1]);
  if (Number.isNaN(status) || !lines.every((line) => HEADER_LINE.test(line)))
    return unreachable(via, "its response is not valid HTTP");
  if (status === 407) return signInRefused(via);
  if (status < 200 || status > 299) return tunnelRefused(via, `it answered ${status}`);
  // The client speaks first through a tunnel, so these bytes are the proxy's own.
  if (head.length > end + 4) return unreachable(via, "it sent unrequested data");
  return null;
}
