import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import type { HttpDelivery, MailDelivery } from "../../src/domain/notify/channel-kind.ts";
import { messageOf, type Notice } from "../../src/domain/notify/message.ts";
import { CHANNEL_KINDS, channelKind } from "../../src/domain/notify/registry.ts";
import { type AnyBody, noticeOf } from "./kit.ts";

const ATTACKS = [
  "<!channel>",
  "<!everyone|x>",
  "<@U123>",
  "<https://evil.example|Click>",
  "@everyone",
  "@here",
  "<@&123>",
  "[Click](https://evil.example)",
  "**bold** `code` ~~x~~ ||spoiler||",
  "</b><a href='https://evil.example'>x</a>",
  "<at>Everyone</at>",
  "https://evil.example/login",
  "evil.example",
  "/start",
  "#tag",
  "\r\nBcc: victim@evil.example",
  "\u202egnp.exe\u2066",
  "\ud800",
];
const text = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...ATTACKS), fc.string({ unit: "binary", maxLength: 20 })), { maxLength: 6 })
    .map((parts) => parts.join(" ")),
  fc.string({ unit: "binary", maxLength: 3000 }),
);

const notices = fc.array(
  fc.record({ message: text, site: fc.option(text), name: text, key: text, count: fc.integer() }),
  { minLength: 1, maxLength: 12 },
);

function rendered(
  kind: string,
  list: readonly { message: string; site: string | null; name: string; key: string; count: number }[],
) {
  const all = list.map(({ message, site, name, key, count }, n): Notice =>
    noticeOf({ id: `id-${n}`, message, site, job: { id: "j", name }, detail: { [key]: count } }),
  );
  const settings = {
    url: "https://receiver.example/",
    server: "https://receiver.example/",
    to: ["a@b.example"],
    from: "orb@b.example",
    topic: "t",
    bot_token: "1:a",
    chat_id: "1",
    key: "k",
  };
  return channelKind(kind).render(settings, messageOf(all, "https://orb.example"));
}
const bodyOf = (kind: string, list: Parameters<typeof rendered>[1]) =>
  JSON.parse((rendered(kind, list) as HttpDelivery).body) as AnyBody;

const property = (kind: string, check: (list: Parameters<typeof rendered>[1]) => void) =>
  test(`${kind}: foreign text makes no mention, link or markup`, () =>
    fc.assert(fc.property(notices, check), { numRuns: 200 }));

function* textsIn(value: unknown): Generator<{ key: string; text: string; owner: Record<string, unknown> }> {
  if (typeof value !== "object" || value === null) return;
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry === "string") yield { key: name, text: entry, owner: value as Record<string, unknown> };
    else yield* textsIn(entry);
  }
}

property("slack", (list) => {
  for (const { key, text: found, owner } of textsIn(bodyOf("slack", list))) {
    if (key !== "text") continue;
    // The only markup is our link.
    const rest =
      owner["type"] === "mrkdwn" ? found.replace(/^<https:\/\/orb\.example\/[^<>|]*\|Open in Orbweaver>$/, "") : found;
    assert.doesNotMatch(rest, /[<>]/);
    assert.ok(found.length <= 3000);
  }
});

property("discord", (list) => {
  const body = bodyOf("discord", list);
  assert.deepEqual(body["allowed_mentions"], { parse: [] });
  const [embed] = body["embeds"] as { title: string; description: string; fields?: { value: string }[] }[];
  assert.ok(embed!.title.length <= 256 && embed!.description.length <= 4096);
  for (const found of [embed!.title, embed!.description, ...(embed!.fields ?? []).map(({ value }) => value)]) {
    // Without escapes, and without our own bold titles.
    const bare = found.replace(/\\[\\*_~`|>#()[\]<\-+]/g, "").replace(/^\*\*(.*)\*\*$/gm, "$1");
    assert.doesNotMatch(bare, /[*_~`|>#[\]<]|:\/\/|@(?!\u200b)/);
  }
});

property("telegram", (list) => {
  const { text: found } = bodyOf("telegram", list) as { text: string };
  assert.ok(found.length <= 4096);
  const bare = found
    .replace(/<a href="https:\/\/orb\.example\/[^"<>]*">Open in Orbweaver<\/a>/g, "")
    .replace(/<b>([^<>]*)<\/b>/g, "$1");
  assert.doesNotMatch(bare, /[<>"]|:\/\/|@(?!\u200b)|\p{L}\.\p{L}/u);
  assert.equal(bare.replace(/&(?:amp|lt|gt|quot);/g, "").includes("&"), false);
});

property("teams", (list) => {
  const [attachment] = bodyOf("teams", list)["attachments"] as {
    content: { body: { type: string; inlines: { type: string }[] }[]; actions: { url: string }[] };
  }[];
  for (const { type, inlines } of attachment!.content.body) {
    assert.equal(type, "RichTextBlock");
    assert.ok(inlines.every((run) => run.type === "TextRun" && !("selectAction" in run)));
  }
  assert.ok(attachment!.content.actions.every(({ url }) => url.startsWith("https://orb.example/")));
});

property("email", (list) => {
  const mail = rendered("email", list) as MailDelivery;
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(mail.subject, /[\u0000-\u001f\u007f\u202a-\u202e]/);
  assert.ok(mail.subject.isWellFormed() && mail.text.isWellFormed());
  assert.deepEqual([mail.from, mail.to], ["orb@b.example", ["a@b.example"]]);
});

/** What mail programs and apps make links and mentions of. */
const LIVE = /:\/\/|\bwww\.|\bmailto:|@(?!\u200b|…|$)|\p{L}\.\p{L}/u;

property("email, in its text", (list) => {
  const { text: found, subject } = rendered("email", list) as MailDelivery;
  // The only links are those of our dashboard, each in a line of its own.
  const lines = found.split("\n").filter((line) => !/^https:\/\/orb\.example\/[\w/%.-]*$/.test(line));
  for (const line of lines) assert.doesNotMatch(line, LIVE);
  assert.doesNotMatch(subject, /[\r\n]/);
});

property("ntfy", (list) => {
  const body = bodyOf("ntfy", list) as { title: string; message: string; click: string };
  assert.deepEqual(Object.keys(body).toSorted(), ["click", "message", "priority", "tags", "title", "topic"]);
  assert.match(body.click, /^https:\/\/orb\.example\//);
  assert.ok(Buffer.byteLength(body.message) < 4096, "ntfy makes an attachment of more");
  const lines = body.message.split("\n").filter((line) => !/^https:\/\/orb\.example\/[\w/%.-]*$/.test(line));
  for (const found of [body.title, ...lines]) assert.doesNotMatch(found, LIVE);
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(body.title, /[\u0000-\u001f\u007f]/);
});

property("apprise", (list) => {
  const body = bodyOf("apprise", list) as { title: string; body: string; format: string };
  assert.equal(body.format, "text");
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(body.title, /[\u0000-\u001f\u007f]/);
  for (const found of [body.title, body.body.replaceAll(/^https:\/\/orb\.example\/[\w/%.-]*$/gm, "")]) {
    assert.doesNotMatch(found, LIVE);
    // Neither tags, entities, mentions of chats, links, code nor emphasis: each sign stands before an invisible one.
    assert.doesNotMatch(found, /[<[\]`*_~|&\\](?!\u200b)/);
    assert.doesNotMatch(found, /^[ \t]*(?:[#>+=-]|\d+[.)])/m);
  }
});

test("the attacks of every form are seen as text", () => {
  const mail = rendered("email", [
    { message: ATTACKS.join("\n"), site: "https://evil.example", name: ATTACKS.join(" "), key: "n", count: 1 },
  ]) as MailDelivery;
  const bare = mail.text.replaceAll("\u200b", "");
  for (const attack of ["https://evil.example/login", "@everyone", "[Click](https://evil.example)"])
    assert.ok(bare.includes(attack), `${attack} reads as before`);
  assert.doesNotMatch(mail.subject, /\n/);
});

test("every kind renders any message as text that can be sent", () => {
  fc.assert(
    fc.property(notices, (list) => {
      for (const { kind } of CHANNEL_KINDS) {
        const delivery = rendered(kind, list);
        if (delivery.via === "http") assert.ok(delivery.body.isWellFormed() || kind === "webhook");
      }
    }),
    { numRuns: 50 },
  );
});
