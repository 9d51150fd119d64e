import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { aiPreferences } from "../../src/domain/site/ai-preferences.ts";
import type { Item } from "../../src/workflows/step-kind.ts";
import { exportStep } from "../../src/workflows/steps/export.ts";
import { type DoneStep, faultsOf, StepHarness, type StepSetting } from "./step-kit.ts";

const ROBOTS = `User-agent: *
Content-Signal: search=yes, ai-train=no   # since 2025
content-usage: train-ai=n
Allow: /

User-agent: GPTBot
User-agent: CCBot
Disallow: /

User-agent: ClaudeBot
Disallow: /private/
`;

const ITEMS: Item[] = [
  {
    url: "https://news.example/1",
    title: "One | two",
    words: 10,
    score: 1,
    tags: ["a", "b"],
    more: { x: 1 },
    language: "en",
    license: "CC-BY-4.0",
  },
  { url: "https://news.example/2", title: "Two", words: 20, score: 1.5, tags: [], language: "de" },
  { url: "https://other.example/1", title: null, words: null, score: null, tags: null },
];

interface Described {
  croissant: Record<string, JsonValue>;
  card: string;
  end: DoneStep;
}

async function described(
  harness: StepHarness,
  params: Record<string, JsonValue> = {},
  setting: StepSetting = { inputs: ITEMS },
): Promise<Described> {
  const end = await harness.done(exportStep, params, setting);
  const read = async (ending: string) => {
    const file = end.files.find(({ url }) => url.endsWith(ending));
    assert.ok(file !== undefined, `there is a file ${ending}`);
    return (await harness.read(file.hash)).toString("utf8");
  };
  return { end, croissant: JSON.parse(await read(".croissant.json")) as never, card: await read(".card.md") };
}

const fieldsOf = (croissant: Record<string, JsonValue>, set = 0) =>
  Object.fromEntries(
    (croissant["recordSet"] as { field: { name: string; dataType: string; repeated?: boolean }[] }[])[set]!.field.map(
      ({ name, dataType, repeated }) => [name, repeated === true ? `${dataType}[]` : dataType],
    ),
  );

describe("a robots.txt", () => {
  it("says what it wants of AI in lines of its own, and by the crawlers that it shuts out", () => {
    assert.deepEqual(aiPreferences(Buffer.from(ROBOTS)), {
      lines: ["Content-Signal: search=yes, ai-train=no", "Content-Usage: train-ai=n"],
      disallowed: ["CCBot", "GPTBot"],
    });
    const silent = "User-agent: *\nDisallow: /\n# Content-Signal: ai-train=no\n";
    assert.deepEqual(aiPreferences(Buffer.from(silent)), { lines: [], disallowed: [] });
  });

  it("names crawlers several in a line, and with versions", () => {
    const robots = "User-agent: GPTBot/1.1, CCBot\nUser-agent: AI2Bot 2\nDisallow: /\n\nUser-agent: AI\nDisallow: /x\n";
    assert.deepEqual(aiPreferences(Buffer.from(robots)).disallowed, ["AI2Bot", "CCBot", "GPTBot"]);
    assert.deepEqual(aiPreferences(Buffer.from("User-agent: AI\nDisallow: /\n")).disallowed, []);
  });

  it("is read in a time that grows with its length, and its lines are cut", () => {
    const blanks = " ".repeat(400_000);
    const robots = `Content-Signal: a${blanks}\u2028b # no\nContent-Signal:${blanks}\n${blanks}Content-Usage: x`;
    const before = process.cpuUsage();
    const { lines } = aiPreferences(Buffer.from(robots));
    assert.equal(lines.length, 1);
    assert.equal(lines[0]?.length, 300);
    assert.ok(process.cpuUsage(before).user < 2_000_000, "in less than two seconds");
    assert.deepEqual(aiPreferences(Buffer.from("Content-Signal: a\u2028b # no")).lines, ["Content-Signal: a\u2028b"]);
  });
});

describe("the Croissant description of an export", () => {
  it("names files with their hashes, and the fields with their types", async () => {
    await using harness = new StepHarness();
    const { croissant, end } = await described(harness);
    assert.equal(croissant["conformsTo"], "http://mlcommons.org/croissant/1.0");
    assert.equal(croissant["@type"], "sc:Dataset");
    assert.deepEqual(croissant["distribution"], [
      {
        "@type": "cr:FileObject",
        "@id": "a-workflow.jsonl",
        name: "a-workflow.jsonl",
        contentUrl: "a-workflow.jsonl",
        contentSize: `${end.files[0]?.size} B`,
        encodingFormat: "application/jsonlines",
        sha256: end.files[0]?.hash,
      },
    ]);
    assert.deepEqual(fieldsOf(croissant), {
      url: "sc:URL",
      title: "sc:Text",
      words: "sc:Integer",
      score: "sc:Float",
      tags: "sc:Text[]",
      language: "sc:Text",
      license: "sc:Text",
    });
    const [{ field }] = croissant["recordSet"] as [{ field: JsonValue[] }];
    assert.deepEqual(field[1], {
      "@type": "cr:Field",
      "@id": "records/title",
      name: "title",
      dataType: "sc:Text",
      source: { fileObject: { "@id": "a-workflow.jsonl" }, extract: { column: "title" } },
    });
    assert.deepEqual(croissant["isBasedOn"], ["https://news.example", "https://other.example"]);
    assert.deepEqual(croissant["inLanguage"], ["de", "en"]);
    for (const name of ["license", "url", "creator", "citeAs", "version", "datePublished"])
      assert.equal(croissant[name], undefined, `${name} is not invented`);
  });

  it("has what people say of it, a record set per split, and the files of an archive", async () => {
    await using harness = new StepHarness();
    const card = { description: "News.", license: "https://creativecommons.org/licenses/by/4.0/", creator: "Us" };
    const params = { archive: "zip", split: { train: 1, test: 1 }, format: "csv", card };
    const { croissant } = await described(harness, params);
    assert.equal(croissant["description"], "News.");
    assert.equal(croissant["license"], card.license);
    assert.deepEqual(
      (croissant["recordSet"] as Item[]).map((set) => set["@id"]),
      ["train", "test"],
    );
    // In a table, lists and objects are texts.
    assert.equal(fieldsOf(croissant)["tags"], "sc:Text");
    assert.equal(fieldsOf(croissant)["more"], "sc:Text");
    const picture = await harness.file("\u0089PNG\r\n\u001a\n", {
      label: "cat",
      image: { format: "png", phash: null },
    });
    const images = await described(harness, { images: true }, { inputs: [picture] });
    const sets = (images.croissant["distribution"] as Item[]).filter((one) => one["@type"] === "cr:FileSet");
    assert.deepEqual(
      sets.map(({ includes, encodingFormat, containedIn }) => [includes, encodingFormat, containedIn]),
      [["**/*.png", "image/png", { "@id": "a-workflow.zip" }]],
    );
  });

  it("describes only columns that each table has", async () => {
    await using harness = new StepHarness();
    const picture = await harness.file("\u0089PNG\r\n\u001a\n", {
      label: "cat",
      license: "MIT",
      image: { format: "png", phash: null },
    });
    const { croissant, end } = await described(harness, { images: true, format: "csv" }, { inputs: [picture] });
    const manifest = end.files.find(({ url }) => url.endsWith("manifest.csv"));
    const [header] = (await harness.read(manifest!.hash)).toString("utf8").split("\r\n");
    const written = header!.split(",");
    assert.ok(written.includes("_more") && !written.includes("license"), header);
    for (const name of Object.keys(fieldsOf(croissant))) assert.ok(written.includes(name), `${name} is in ${header}`);
    assert.ok("label" in fieldsOf(croissant));
    const parquet = await described(harness, { images: true, format: "parquet" }, { inputs: [picture] });
    assert.ok("license" in fieldsOf(parquet.croissant), "parquet has a column for it");
  });

  it("describes the table of each split by its own records", async () => {
    await using harness = new StepHarness();
    const inputs = Array.from({ length: 40 }, (_, n): Item => ({ url: `https://a.example/${n}`, [`only${n}`]: n }));
    const params = { archive: "zip", split: { train: 1, test: 1 }, format: "csv" };
    const { croissant, end } = await described(harness, params, { inputs });
    for (const [at, name] of ["train", "test"].entries()) {
      const file = end.files.find(({ url }) => url.endsWith(`/${name}.csv`));
      const [header] = (await harness.read(file!.hash)).toString("utf8").split("\r\n");
      assert.deepEqual(Object.keys(fieldsOf(croissant, at)).toSorted(), header!.split(",").toSorted());
    }
  });

  it("says who made it and when it was published, and refuses what is no address or date", async () => {
    await using harness = new StepHarness();
    const of = async (card: JsonValue) => (await described(harness, { card })).croissant;
    const said = await of({ creator: "Us", published: "2026-11-18", url: "https://data.example/news" });
    assert.deepEqual(said["creator"], { "@type": "sc:Organization", name: "Us" });
    assert.equal(said["datePublished"], "2026-11-18");
    const { creator } = await of({ creator: { name: "Ada", type: "person" } });
    assert.deepEqual(creator, { "@type": "sc:Person", name: "Ada" });
    for (const card of [{ url: "news" }, { url: "javascript:1" }, { published: "soon" }, { creator: { name: "Ada" } }])
      assert.notDeepEqual(faultsOf(exportStep, { card }), [], JSON.stringify(card));
  });

  it("has no fields for formats that are no tables, and none that a table may not have", async () => {
    await using harness = new StepHarness();
    assert.deepEqual((await described(harness, { format: "markdown" })).croissant["recordSet"], []);
    const inputs = Array.from({ length: 700 }, (_, n): Item => ({ n, ...(n === 600 ? { late: 1 } : {}) }));
    assert.deepEqual(fieldsOf((await described(harness, { format: "csv" }, { inputs })).croissant), {
      url: "sc:Text",
      n: "sc:Integer",
    });
    assert.ok("late" in fieldsOf((await described(harness, { format: "jsonl" }, { inputs })).croissant));
  });
});

describe("the data card of an export", () => {
  it("names sites with what their robots.txt says, licences, languages and steps, and what is not recorded", async () => {
    await using harness = new StepHarness();
    const outputs = {
      crawl: { pages: 9, status: "completed" },
      filter: { kept: 3, removed: 6, reasons: { no_text: 6 } },
    };
    const robots = { "https://news.example": ROBOTS };
    const { card } = await described(harness, {}, { inputs: ITEMS, outputs, robots });
    const wanted = [
      "| Records | 3 |",
      "| Licence of the dataset | not recorded |",
      "| https://news.example | 2 | 2026-11-01T08:00:00.000Z | Content-Signal: search=yes, ai-train=no; Content-Usage: train-ai=n; disallows CCBot, GPTBot |",
      "| https://other.example | 1 | not recorded | not recorded |",
      "| CC-BY-4.0 | 1 |\n| not recorded | 2 |",
      "| de | 1 |\n| en | 1 |\n| not recorded | 1 |",
      "- crawl: pages 9",
      "- filter: kept 3, removed 6, no\\_text 6",
    ];
    for (const text of wanted) assert.ok(card.includes(text), `${text}\n\n${card}`);
    const nothing = await described(harness, {}, { inputs: [{ a: 1 }], robots: {} });
    assert.match(nothing.card, /Sites: not recorded\.[^]*Licences: not recorded\.[^]*Languages: not recorded\./);
    const silent = await described(
      harness,
      {},
      { inputs: ITEMS, robots: { "https://news.example": "", "https://other.example": "User-agent: *" } },
    );
    assert.match(silent.card, /news\.example \| 2 \| .*? \| none could be read, or it is empty \|/);
    assert.match(silent.card, /other\.example \| 1 \| .*? \| nothing \|/);
  });

  it("says no more of sites and counts than is known", async () => {
    await using harness = new StepHarness();
    const mixed = [{ url: "https://a.example/1" }, { text: "no address" }];
    const odd = { filter: { kept: 1, reasons: { short: 2, why: "<b>", more: { a: 1 } } } };
    const { card } = await described(harness, { name: "file" }, { inputs: mixed, outputs: odd });
    assert.match(card, /^2 records, exported by the workflow a workflow on /m);
    assert.match(card, /^- filter: kept 1, short 2$/m);
    const one = await described(harness, {}, { inputs: mixed.slice(0, 1) });
    assert.match(one.card, /^1 records from https:\/\/a\.example, exported/m);
    const many = (count: number) => Array.from({ length: count }, (_, n): Item => ({ url: `https://s${n}.example/` }));
    assert.match((await described(harness, {}, { inputs: many(1000) })).card, /^And 900 more sites\.$/m);
    assert.match((await described(harness, {}, { inputs: many(1001) })).card, /^And at least 900 more sites\.$/m);
  });

  it("cannot be changed by what was scraped", async () => {
    await using harness = new StepHarness();
    const license = "MIT |\n# Heading <script>";
    const { card } = await described(harness, {}, { inputs: [{ url: "https://a.example/", license }] });
    assert.ok(card.includes("| MIT \\| \\# Heading \\<script\\> | 1 |"), card);
  });

  it("is left out on request, and leaves the dataset itself unchanged", async () => {
    await using harness = new StepHarness();
    const without = await harness.done(exportStep, { card: false }, { inputs: ITEMS });
    const { end } = await described(harness);
    assert.deepEqual(without.files, end.files.slice(0, 1));
    assert.deepEqual(without.output, end.output);
  });
});
