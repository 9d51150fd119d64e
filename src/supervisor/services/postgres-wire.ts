import { connect } from "node:net";

interface PostgresTarget {
  host: string;
  port: number;
  user: string;
}

export function postgresTarget(text: string): PostgresTarget {
  const url = new URL(text);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username) || "postgres",
  };
}

/** The server runs but accepts no connections yet. */
export class StartingUp extends Error {}

const STARTING_UP = "57P03";
const VERSION_3 = 196_608;

/**
 * Like `pg_isready`: connects as a client and checks that a backend answers, whatever it answers. Rejects on timeout.
 */
export function helloPostgres(target: PostgresTarget, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: target.host, port: target.port });
    const finish = (error?: Error) => {
      clearTimeout(timer);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const timer = setTimeout(() => finish(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    socket.on("error", finish);
    socket.on("close", () => finish(new Error("the connection was closed")));
    let answer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      const kind = String.fromCharCode(answer[0] ?? 0);
      if (kind === "R") return finish();
      if (kind !== "E") return finish(new Error("a program other than Postgres answers"));
      if (answer.length < 5 || answer.length < answer.readUInt32BE(1) + 1) return undefined;
      const refusal = fieldsOf(answer.subarray(5));
      if (refusal.get("C") === STARTING_UP) return finish(new StartingUp(refusal.get("M") ?? "it is starting up"));
      // Whatever the error (user, too many connections), a server that sends one is alive.
      return finish();
    });
    socket.write(hello(target.user));
  });
}

function hello(user: string): Buffer {
  const words = Buffer.from(`user\0${user}\0database\0postgres\0\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + words.length, 0);
  head.writeUInt32BE(VERSION_3, 4);
  return Buffer.concat([head, words]);
}

function fieldsOf(body: Buffer): Map<string, string> {
  const parts = body.toString("utf8").split("\0");
  return new Map(parts.filter((part) => part !== "").map((part) => [part.slice(0, 1), part.slice(1)]));
}
