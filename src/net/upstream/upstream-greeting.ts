import type { Socket } from "node:net";
import type { Upstream } from "../../domain/proxy/upstream.ts";
import { signInRefused, unreachable } from "./upstream-failure.ts";

const VERSION = 5;
const SIGN_IN_VERSION = 1;
const NO_AUTH = 0;
const PASSWORD_AUTH = 2;

/** Greets a SOCKS5 proxy and authenticates if required; sends no destination. The caller limits the time. */
export async function greetSocks(socket: Socket, via: Upstream): Promise<void> {
  const { credentials } = via;
  const methods = credentials === null ? [NO_AUTH] : [NO_AUTH, PASSWORD_AUTH];
  const [version, method] = await exchange(socket, via, [VERSION, methods.length, ...methods]);
  if (version !== VERSION) throw unreachable(via, "it is not a SOCKS5 proxy");
  if (method === NO_AUTH) return;
  if (method !== PASSWORD_AUTH || credentials === null) throw signInRefused(via);
  const user = Buffer.from(credentials.username);
  const password = Buffer.from(credentials.password);
  if (Math.max(user.length, password.length) > 255) throw signInRefused(via);
  const signIn = [SIGN_IN_VERSION, user.length, ...user, password.length, ...password];
  const [, refused] = await exchange(socket, via, signIn);
  if (refused !== 0) throw signInRefused(via);
}

/** Both replies of the proxy have two bytes. */
function exchange(socket: Socket, via: Upstream, bytes: readonly number[]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let answer = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length < 2) return;
      socket.off("data", read).off("close", gone);
      resolve(answer);
    };
    const gone = () => reject(unreachable(via, "it closed the connection without a response"));
    socket.on("data", read).once("close", gone);
    socket.write(Buffer.from(bytes));
  });
}
