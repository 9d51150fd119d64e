import assert from "node:assert/strict";
import { test } from "node:test";
import { createSeal } from "../../src/base/seal.ts";
import {
  keepHiddenUserinfo,
  openAddress,
  openAddresses,
  sealAddress,
  sealAddresses,
  withoutCredentials,
  withoutSecrets,
} from "../../src/domain/text/sealed-text.ts";

const seal = createSeal("a key that only tests know");

test("credentials in addresses are sealed, hidden from readers, and opened as they were written", () => {
  const texts = [
    "http://ana:s3cret@example.com/a?b=c#d",
    "https://s3cret@example.com",
    "HTTPS://ana:s3cret%40x@[::1]:8080/",
    "see https://ana:s3cret@a.example/ and ftp://bob:s3cret@b.example/x",
    "https://ana:s3c@ret@example.com/",
    "http:\\\\ana:s3cret@example.com/",
    "http:///ana:s3cret@example.com/",
    "https://ana:s3cret${{ params.x }}@example.com/",
    "https://ana:s3cret@${{ params.host }}/x",
    '${{ params.url || "https://ana:s3cret@example.com/" }}',
  ];
  for (const text of texts) {
    const stored = sealAddress(seal, text);
    assert.doesNotMatch(stored, /s3cret|s3c@ret/, text);
    assert.equal(openAddress(seal, stored), text);
    for (const shown of [withoutSecrets(stored), withoutSecrets(text)]) {
      assert.doesNotMatch(shown, /s3c|orb-sealed/, text);
      assert.match(shown, /\*\*\*@/);
    }
    assert.doesNotMatch(withoutCredentials(stored), /s3c|orb-sealed|\*\*\*/);
  }
  assert.equal(withoutSecrets("http://ana:s3cret@example.com/a?b=c#d"), "http://***@example.com/a?b=c#d");
  assert.equal(withoutCredentials("http://ana:s3cret@example.com/a?b=c#d"), "http://example.com/a?b=c#d");
});

test("addresses that URL parsers read in other ways are found as well", () => {
  for (const text of [
    "http:ana:s3cret@example.com/",
    "http:/ana:s3cret@example.com/",
    " http://ana:s3 cret@example.com/",
  ]) {
    const stored = sealAddress(seal, text);
    assert.doesNotMatch(stored, /s3 ?cret/, text);
    assert.equal(openAddress(seal, stored), new URL(text).href);
  }
});

test("what is no address with credentials stays as it is, the same object", () => {
  const value = {
    list: [
      "https://medium.example/@ana",
      "https://a.example/?mail=ana@b.example",
      "ana@b.example",
      "a@b://c",
      "https://${{ params.user }}:${{ params.password }}@a.example/",
    ],
    number: 7,
    none: null,
  };
  assert.equal(sealAddresses(seal, value), value);
  assert.equal(withoutSecrets(value), value);
  assert.equal(openAddresses(seal, value), value);
});

test("what was sealed for one host opens for no other, and a text that only looks sealed is one", () => {
  const stored = sealAddress(seal, "https://ana:s3cret@a.example/");
  assert.throws(() => openAddress(seal, stored.replace("a.example", "evil.example")), { code: "secret_key_wrong" });
  assert.throws(() => openAddress(createSeal("another"), stored), { code: "secret_key_wrong" });
  const odd = "https://orb-sealed:abc@a.example/";
  assert.equal(openAddress(seal, sealAddress(seal, odd)), odd);
});

test("*** is kept for the same host, and missed for another", () => {
  const stored = sealAddress(seal, "https://ana:s3cret@a.example/x");
  let missed = 0;
  const keep = (text: string) => keepHiddenUserinfo(text, stored, () => (missed += 1));
  assert.equal(openAddress(seal, keep("https://***@a.example/other")), "https://ana:s3cret@a.example/other");
  assert.equal(missed, 0);
  keep("https://***@b.example/x");
  assert.equal(missed, 1);
});

test("long texts take linear time", () => {
  const hostile = [
    `${"a".repeat(200_000)}@`,
    "://".repeat(100_000),
    `://${"${{".repeat(50_000)}`,
    `://${"@".repeat(200_000)}`,
  ];
  for (const text of hostile) assert.equal(typeof withoutSecrets(text), "string");
});
