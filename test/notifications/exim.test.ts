import assert from "node:assert/strict";
import { test } from "node:test";
import { Exim, eximGate } from "./exim.ts";
import { channelOf, MAIL_USER, message, noticeOf, openSender } from "./kit.ts";

for (const security of ["starttls", "tls"] as const)
  test(`Debian's mail server takes mails with ${security} from those who sign in`, eximGate, async (t) => {
    await using exim = await Exim.start();
    const sender = openSender(t, { ca: exim.ca });
    const settings = {
      host: "localhost",
      port: exim.ports[security],
      security,
      from: "orb@example.com",
      to: ["ops@example.com", "dev@example.com"],
      ...MAIL_USER,
    };
    const channel = channelOf("email", settings);
    await sender.send(channel, message());
    await sender.send(channel, message());
    const mails = await exim.mails(4);
    for (const mail of mails) {
      // SMTP, extended, secure, and authenticated.
      assert.match(mail, /^Received: [^]*?with esmtpsa\s+\(TLS1\.3\)/);
      assert.match(mail, /^Subject: Run failed: Prices$/m);
      assert.match(mail, new RegExp(`^Message-ID: <${noticeOf().id}@example\\.com>$`, "im"));
    }
    assert.match(exim.log, /A=plain:orb/);
    await assert.rejects(
      sender.send(channelOf("email", { ...settings, password: "hunter2hunter2" }), message()),
      (error: Error) => /refused user and password/.test(error.message) && !error.message.includes("hunter2"),
    );
    await assert.rejects(
      sender.send(channelOf("email", { ...settings, to: ["nobody@example.com"] }), message()),
      /no such user here/,
    );
    await assert.rejects(openSender(t).send(channel, message()), /certificate is not trusted/);
  });
