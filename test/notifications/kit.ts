/** Servers that channels deliver to: a real mail server, and an HTTP server that records requests. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { SMTPServer } from "smtp-server";
import { createSeal, type Seal } from "../../src/base/seal.ts";
import type { Settings } from "../../src/domain/notify/channel-kind.ts";
import { type Message, messageOf, type Notice } from "../../src/domain/notify/message.ts";
import { channelKind } from "../../src/domain/notify/registry.ts";
import { readSettings, SEALED_FOR_CHANNEL, splitSettings } from "../../src/domain/notify/settings.ts";
import { parseAddressPolicy } from "../../src/net/address.ts";
import { createMessageSender, type MessageSender } from "../../src/supervisor/notifications/sender.ts";
import { systemClock } from "../../src/base/clock.ts";
import { selfSigned } from "../support/certificate.ts";

/** Bodies of many shapes. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyBody = Record<string, any>;

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: AnyBody;
}

export async function httpReceiver(t: TestContext) {
  const received: Received[] = [];
  const answers: { status: number; body?: string; headers?: Record<string, string> }[] = [];
  const server: Server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body: JSON.parse(text) as Received["body"] });
      const { status, body = "", headers = {} } = answers.shift() ?? { status: 200, body: "ok" };
      // 0: never answered.
      if (status !== 0) response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.3", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.3:${(server.address() as AddressInfo).port}`, received, answers };
}

export interface Mail {
  from: string;
  to: string[];
  source: string;
  secure: boolean;
  user: string | null;
}

export const MAIL_USER = { user: "orb", password: "correct horse" };

/** A real SMTP server, with STARTTLS or TLS from the start. */
export async function mailServer(t: TestContext, options: { tls?: boolean; plain?: boolean } = {}) {
  const certificate = selfSigned("DNS:localhost");
  const mails: Mail[] = [];
  const answers: { code: number; message: string }[] = [];
  const refused = new Set<string>();
  const server = new SMTPServer({
    secure: options.tls === true,
    key: certificate.key,
    cert: certificate.cert,
    authOptional: options.plain === true,
    ...(options.plain === true ? { disabledCommands: ["STARTTLS", "AUTH"] } : {}),
    onAuth({ username = "", password }, _session, done) {
      if (username === MAIL_USER.user && password === MAIL_USER.password) done(null, { user: username });
      else done(new Error("5.7.8 Authentication failed"));
    },
    onRcptTo({ address }, _session, done) {
      if (refused.has(address)) done(Object.assign(new Error("5.1.1 no such user"), { responseCode: 550 }));
      else done();
    },
    onData(stream, session, done) {
      let source = "";
      stream.setEncoding("utf8").on("data", (part: string) => (source += part));
      stream.on("end", () => {
        const answer = answers.shift();
        if (answer !== undefined) return done(Object.assign(new Error(answer.message), { responseCode: answer.code }));
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? "" : mailFrom.address;
        const to = rcptTo.map(({ address }) => address);
        mails.push({ from, to, source, secure: session.secure, user: (session.user as unknown as string) ?? null });
        return done();
      });
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    answers,
    refused,
    ca: certificate.cert.toString(),
  };
}

export const seal: Seal = createSeal("a key that only tests know");

export function channelOf(kind: string, input: Record<string, unknown>) {
  const read = readSettings(channelKind(kind), input);
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  const { shown, secret } = splitSettings(channelKind(kind), read.settings);
  return { kind, settings: shown as Settings, sealed: seal.close(secret, SEALED_FOR_CHANNEL) };
}

export function noticeOf(more: Partial<Notice> = {}): Notice {
  return {
    id: "0197c3a1-5a2e-8b00-8000-000000000001",
    type: "run_failed",
    subject: "run",
    message: "Run failed: the server answered 500",
    site: "shop.example",
    job: { id: "0197c3a1-5a2e-8500-8000-000000000001", name: "Prices" },
    runId: "0197c3a1-5a2e-7000-8000-000000000001",
    detail: { counts: { completed: 12, failed: 3 } },
    createdAt: Date.UTC(2026, 10, 18, 12),
    ...more,
  };
}

export const message = (notices: readonly Notice[] = [noticeOf()]): Message =>
  messageOf(notices, "https://orb.example/");

export function openSender(t: TestContext, options: { ca?: string; private?: boolean } = {}): MessageSender {
  const sender = createMessageSender({
    policy: parseAddressPolicy(options.private ?? true),
    secret: "webhook-secret-0123456789",
    seal,
    clock: systemClock,
    userAgent: "orb-test",
    ...(options.ca === undefined ? {} : { tls: { ca: options.ca } }),
  });
  t.after(() => sender.close());
  return sender;
}
