import { isIP, type Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { createTransport } from "nodemailer";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { MailDelivery } from "../../domain/notify/channel-kind.ts";
import type { Message } from "../../domain/notify/message.ts";
import { oneLine } from "../../domain/notify/text.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { createSocketOpener } from "../../net/guarded-socket.ts";
import { createResolver } from "../../net/resolver.ts";
import { unreachable } from "./http-delivery.ts";

const CONNECT_MS = 10_000;
/** A mail server may look up the sender before it answers. */
const MAIL_TRY_MS = 20_000;

export type Trust = Pick<ConnectionOptions, "ca">;

interface MailDeps {
  policy: AddressPolicy;
  clock: Clock;
  tls?: Trust;
}

/**
 * The library gets a socket that the guard opened: it resolves no name and connects to nothing itself. Returns what was
 * refused of a mail that others received; null: nothing.
 */
export async function sendByMail(
  { policy, clock, tls }: MailDeps,
  mail: MailDelivery,
  message: Pick<Message, "id" | "createdAt">,
  signal?: AbortSignal,
): Promise<string | null> {
  const open = createSocketOpener({ policy, clock, resolve: createResolver({ policy, clock }), connectMs: CONNECT_MS });
  const { host, port, security, user, password } = mail;
  let socket: Socket | undefined;
  const stop = () => socket?.destroy(new Error("interrupted"));
  const late = clock.after(MAIL_TRY_MS, stop);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    socket = await open(isIP(host) === 6 ? `[${host}]` : host, port);
  } catch (error) {
    late.cancel();
    signal?.removeEventListener("abort", stop);
    signal?.throwIfAborted();
    if (error instanceof FetchFailure) throw new Error(unreachable(error.failure.reason), { cause: error });
    throw error;
  }
  const connection = socket;
  const transport = createTransport({
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    ...(user === null ? {} : { auth: { user, pass: password ?? "" } }),
    tls: { minVersion: "TLSv1.2", ...tls },
    greetingTimeout: CONNECT_MS,
    socketTimeout: CONNECT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options: unknown, done: (error: Error | null, options: { connection: Socket }) => void) =>
      done(null, { connection }),
  });
  try {
    signal?.throwIfAborted();
    const { rejected = [] } = await transport.sendMail({
      from: mail.from,
      to: [...mail.to],
      subject: mail.subject,
      text: mail.text,
      priority: mail.priority,
      // The same in every attempt, so that mail servers and programs drop a repetition.
      messageId: `<${message.id}@${mail.from.slice(mail.from.indexOf("@") + 1)}>`,
      date: new Date(message.createdAt),
      headers: { "X-Orb-Id": message.id, "Auto-Submitted": "auto-generated" },
    });
    // The others have it: sent again, they would get it twice.
    if (rejected.length === 0) return null;
    return oneLine(`the mail server refused ${rejected.map(String).join(", ")}`, 1000);
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(explained(error), { cause: error });
  } finally {
    late.cancel();
    signal?.removeEventListener("abort", stop);
    transport.close();
    connection.destroy();
  }
}

/** The library's error has the server's own words, such as `535 5.7.8 Authentication failed`. */
function explained(error: unknown): string {
  const { code, response } = error as { code?: string; response?: string };
  if (code === "EAUTH")
    return `the server refused user and password${response === undefined ? "" : `: ${oneLine(response)}`}`;
  if (response !== undefined) return `the mail server answered ${oneLine(response)}`;
  const text = oneLine(messageOf(error));
  if (/certificate|altname|CERT_/i.test(`${code} ${text}`))
    return `the server's certificate is not trusted: ${text}. Start with NODE_EXTRA_CA_CERTS for a private authority`;
  return `the mail could not be sent: ${text}`;
}
