import type { Socket } from "node:net";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { signInRefused, unreachable } from "./upstream-failure.ts";

const VERSION = 5;
const SIGN_IN_VERSION = 1;
const WITHOUT = 0;
const WITH_PASSWORD = 2;

/** Greets a SOCKS5 proxy and authenticates if required; sends no destination. The caller limits the time. */
export async function greetSocks(socket: Socket, via: Upstream): Promise<void> {
  const { credentials } = via;
  const ways = credentials === null ? [WITHOUT] : [WITHOUT, WITH_PASSWORD];
  const [version, way] = await ask(socket, via, [VERSION, ways.length, ...ways]);
  if (version !== VERSION) throw unreachable(via, "what answers there is no SOCKS5 proxy");
  if (way === WITHOUT) return;
  if (way !== WITH_PASSWORD || credentials === null) throw signInRefused(via);
  const user = Buffer.from(credentials.username);
  const password = Buffer.from(credentials.password);
  if (Math.max(user.length, password.length) > 255) throw signInRefused(via);
  const signIn = [SIGN_IN_VERSION, user.length, ...user, password.length, ...password];
  const [, refused] = await ask(socket, via, signIn);
  if (refused !== 0) throw signInRefused(via);
}

/** Both of its answers have two bytes. */
function ask(socket: Socket, via: Upstream, bytes: readonly number[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let answer = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length < 2) return;
      socket.off("data", read).off("close", gone);
      resolve(answer);
    };
    const gone = () => reject(unreachable(via, "it closed the connection instead of answering"));
    socket.on("data", read).once("close", gone);
    socket.write(Buffer.from(bytes));
  });
}
