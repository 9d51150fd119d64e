import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:net";
import { test } from "node:test";
import { channelOf, httpReceiver, MAIL_USER, mailServer, message, noticeOf, openSender } from "./kit.ts";

const mailSettings = (port: number, more: Record<string, unknown> = {}) => ({
  host: "localhost",
  port,
  ...MAIL_USER,
  from: "orb@example.com",
  to: ["ops@example.com", "dev@example.com"],
  ...more,
});

for (const security of ["starttls", "tls"])
  test(`a mail goes to a real server with ${security}, after signing in, with the same id each time`, async (t) => {
    const server = await mailServer(t, { tls: security === "tls" });
    const sender = openSender(t, { ca: server.ca });
    const channel = channelOf("email", mailSettings(server.port, { security }));
    await sender.send(channel, message());
    await sender.send(channel, message());
    const [mail, again] = server.mails;
    assert.deepEqual(
      [mail?.secure, mail?.user, mail?.from, mail?.to],
      [true, "orb", "orb@example.com", ["ops@example.com", "dev@example.com"]],
    );
    assert.match(mail!.source, /^Subject: Run failed: Prices\r$/m);
    assert.match(mail!.source, /completed 12 .* failed 3/);
    assert.match(mail!.source, /https:\/\/orb\.example\/runs\/0197c3a1/);
    const idOf = (source = "") => /^Message-ID: (.*)\r$/im.exec(source)?.[1];
    assert.equal(idOf(mail?.source), `<${noticeOf().id}@example.com>`);
    assert.equal(idOf(again?.source), idOf(mail?.source));
  });

test("a mail server that cannot be used is named by its reason, never by the password", async (t) => {
  const server = await mailServer(t);
  const trusting = openSender(t, { ca: server.ca });
  const wrong = channelOf("email", mailSettings(server.port, { password: "hunter2hunter2" }));
  await assert.rejects(trusting.send(wrong, message()), (error: Error) => {
    assert.match(error.message, /refused user and password.*Authentication failed/);
    assert.doesNotMatch(error.message, /hunter2/);
    return true;
  });
  await assert.rejects(
    openSender(t).send(channelOf("email", mailSettings(server.port)), message()),
    /certificate is not trusted/,
  );
  server.answers.push({ code: 452, message: "4.2.2 mailbox full" });
  await assert.rejects(
    trusting.send(channelOf("email", mailSettings(server.port)), message()),
    /452 4\.2\.2 mailbox full/,
  );
  const plain = await mailServer(t, { plain: true });
  // STARTTLS is required: nothing is sent to a server that does not offer it.
  await assert.rejects(trusting.send(channelOf("email", mailSettings(plain.port)), message()), /mail/i);
  assert.equal(plain.mails.length, 0);
  const open = channelOf("email", {
    host: "localhost",
    port: plain.port,
    security: "none",
    from: "a@b.example",
    to: ["c@d.example"],
  });
  await trusting.send(open, message());
  assert.deepEqual(
    plain.mails.map(({ secure }) => secure),
    [false],
  );
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  await assert.rejects(
    trusting.send(channelOf("email", mailSettings(port)), message()),
    /unreachable \(connection_refused\)/,
  );
});

test("a mail that one of two receivers refuses is delivered, and says whom it did not reach", async (t) => {
  const server = await mailServer(t);
  server.refused.add("gone@example.com");
  const sender = openSender(t, { ca: server.ca });
  const both = channelOf("email", mailSettings(server.port, { to: ["ops@example.com", "gone@example.com"] }));
  assert.equal(await sender.send(both, message()), "the mail server refused gone@example.com");
  assert.deepEqual(
    server.mails.map(({ to }) => to),
    [["ops@example.com"]],
  );
  server.refused.add("ops@example.com");
  await assert.rejects(sender.send(both, message()), /550 5\.1\.1 no such user/);
});

test("mail and web servers in private networks are refused unless the operator allows them", async (t) => {
  const server = await mailServer(t);
  const receiver = await httpReceiver(t);
  const guarded = openSender(t, { ca: server.ca, private: false });
  await assert.rejects(
    guarded.send(channelOf("email", mailSettings(server.port)), message()),
    /APP_NOTIFY_PRIVATE_NETWORKS/,
  );
  await assert.rejects(
    guarded.send(channelOf("webhook", { url: receiver.url }), message()),
    /APP_NOTIFY_PRIVATE_NETWORKS/,
  );
  assert.deepEqual([server.mails, receiver.received], [[], []]);
});

test("each service gets a message in its form", async (t) => {
  const { url, received } = await httpReceiver(t);
  const sender = openSender(t);
  const send = async (kind: string, settings: Record<string, unknown>) => {
    await sender.send(channelOf(kind, settings), message());
    const last = received.at(-1)!;
    assert.equal(last.headers["x-orb-id"], noticeOf().id);
    return last;
  };
  const slack = await send("slack", { url: `${url}/services/T0/B0/x` });
  assert.match(slack.body["blocks"][0].text.text, /Run failed: Prices/);
  assert.match(JSON.stringify(slack.body), /<https:\/\/orb\.example\/runs\/[^|]+\|Open in Orbweaver>/);
  const discord = await send("discord", { url: `${url}/api/webhooks/1/x` });
  assert.deepEqual(discord.body["allowed_mentions"], { parse: [] });
  assert.match(discord.body["embeds"][0].url, /^https:\/\/orb\.example\/runs\//);
  const teams = await send("teams", { url: `${url}/workflows/x` });
  const card = teams.body["attachments"][0];
  assert.deepEqual([card.contentType, card.content.type], ["application/vnd.microsoft.card.adaptive", "AdaptiveCard"]);
  const telegram = await send("telegram", { bot_token: "123:abc", chat_id: "-100", api_url: url });
  assert.deepEqual(
    [telegram.path, telegram.body["chat_id"], telegram.body["parse_mode"]],
    ["/bot123:abc/sendMessage", "-100", "HTML"],
  );
  const ntfy = await send("ntfy", { server: url, topic: "orb-alerts", token: "tk_1" });
  assert.deepEqual(
    [ntfy.path, ntfy.body["topic"], ntfy.body["priority"], ntfy.headers["authorization"]],
    ["/", "orb-alerts", 5, "Bearer tk_1"],
  );
  const stored = await send("apprise", { server: url, key: "team" });
  assert.deepEqual([stored.path, stored.body["type"], stored.body["format"]], ["/notify/team", "failure", "text"]);
  const stateless = await send("apprise", { server: `${url}/`, urls: "json://example.com" });
  assert.deepEqual([stateless.path, stateless.body["urls"]], ["/notify", "json://example.com"]);
});

test("a webhook is signed, with its own secret or that of the installation", async (t) => {
  const { url, received } = await httpReceiver(t);
  const sender = openSender(t);
  for (const secret of [null, "a-secret-of-its-own"]) {
    await sender.send(channelOf("webhook", { url, secret }), message());
    const { headers, body } = received.at(-1)!;
    const key = secret ?? "webhook-secret-0123456789";
    const signed = `${String(headers["x-orb-timestamp"])}.${JSON.stringify(body)}`;
    assert.equal(headers["x-orb-signature"], `sha256=${createHmac("sha256", key).update(signed).digest("hex")}`);
    assert.deepEqual(
      [body["notifications"][0].type, body["severity"], body["id"]],
      ["run_failed", "error", noticeOf().id],
    );
  }
});

test("a rejection has the service's own reason, and no secret of the URL", async (t) => {
  const { url, answers } = await httpReceiver(t);
  const sender = openSender(t);
  const cases = [
    [
      "slack",
      { url: `${url}/services/SECRET` },
      { status: 403, body: "invalid_token" },
      /answered 403: invalid_token$/,
    ],
    [
      "telegram",
      { bot_token: "123:SECRET", chat_id: "1", api_url: url },
      { status: 400, body: '{"ok":false,"description":"Bad Request: chat not found"}' },
      /400: Bad Request: chat not found$/,
    ],
    [
      "discord",
      { url: `${url}/SECRET` },
      { status: 404, body: '{"message":"Unknown Webhook","code":10015}' },
      /404: Unknown Webhook$/,
    ],
    ["webhook", { url: `${url}/SECRET` }, { status: 500, body: "stack trace of an internal server" }, /answered 500$/],
    [
      "webhook",
      { url: `${url}/SECRET` },
      { status: 302, headers: { location: `${url}/SECRET2` } },
      /redirects are not followed/,
    ],
  ] as const;
  for (const [kind, settings, answer, expected] of cases) {
    answers.push(answer);
    await assert.rejects(sender.send(channelOf(kind, settings), message()), (error: Error) => {
      assert.match(error.message, expected);
      assert.doesNotMatch(error.message, /SECRET|127\.0\.0\.3|stack trace/);
      return true;
    });
  }
});
