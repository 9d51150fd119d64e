import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

interface RedisTarget {
  host: string;
  port: number;
  tls: boolean;
  user: string | null;
  password: string | null;
}

export function redisTarget(text: string): RedisTarget {
  const url = new URL(text);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 6379),
    tls: url.protocol === "rediss:",
    user: decodeURIComponent(url.username) || null,
    password: decodeURIComponent(url.password) || null,
  };
}

/** PING; rejects without a PONG in time. The only Redis command here, so no client is needed. */
export function pingRedis(target: RedisTarget, timeoutMs: number): Promise<void> {
  const { host, port, user, password } = target;
  return new Promise((resolve, reject) => {
    const socket = target.tls ? connectTls({ host, port, servername: host }) : connect({ host, port });
    const auth = password === null ? [] : [["AUTH", ...(user === null ? [] : [user]), password]];
    const commands = [...auth, ["PING"]];
    let text = "";
    const finish = (error?: Error) => {
      clearTimeout(timer);
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    // One deadline for everything: a server that sends a byte now and then is not healthy either.
    const timer = setTimeout(() => finish(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    socket.setEncoding("utf8");
    socket.on("error", finish);
    socket.on("close", () => finish(new Error("the connection was closed")));
    socket.on("data", (chunk: string) => {
      text = `${text}${chunk}`.slice(-4096);
      const lines = text.split("\r\n").slice(0, -1);
      const refusal = lines.find((line) => line.startsWith("-"));
      if (refusal !== undefined) finish(new Error(refusal.slice(1)));
      else if (lines.length >= commands.length)
        finish(lines.at(-1) === "+PONG" ? undefined : new Error("a program other than Redis answers"));
    });
    socket.write(commands.map(encode).join(""));
  });
}

function encode(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}
