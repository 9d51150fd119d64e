import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { odt, pptx, zipOf } from "../support/document-files.ts";
import { odp } from "../support/odf-files.ts";
import { read, readPage } from "./kit.ts";

describe("what a document hides is left out", () => {
  test("a hidden slide of PowerPoint and of OpenDocument; the others keep their numbers", async () => {
    const shown = await read(pptx());
    assert.match(shown.html, /data-page="2">\s*<h2>Numbers/);
    const powerpoint = await read(pptx({ hidden: true }));
    assert.equal(powerpoint.pageCount, 2);
    assert.doesNotMatch(powerpoint.html, /Numbers|Speak slowly|data-page="2"/);
    const impress = await read(
      odp([
        { title: "Annual Report", items: ["Grow", "Save"], notes: "Speak slowly" },
        { title: "Secret", items: ["hidden"], notes: "unsaid", isHidden: true },
        { title: "End" },
      ]),
    );
    assert.equal(impress.pageCount, 3);
    assert.match(impress.html, /<section data-page="1">\s*<h2>Annual Report<\/h2>\s*<ul><li>Grow/);
    assert.match(impress.html, /<blockquote>Speak slowly<\/blockquote>\s*<\/section>\s*<section data-page="3">/);
    assert.doesNotMatch(impress.html, /Secret|hidden|unsaid|Confidential/);
  });

  test("the title, the slides and the notes of an OpenDocument presentation", async () => {
    const page = await readPage(odp([{ title: "Numbers", items: ["One", "Two"], notes: "Wait" }, { title: "End" }]));
    assert.deepEqual([page.title, page.author, page.metadata["page_count"]], ["Annual Report", "Ada Writer", "2"]);
    assert.deepEqual(
      page.headings.map(({ text }) => text),
      ["Numbers", "End"],
    );
    assert.match(page.markdown, /## Numbers\n\n- One\n- Two\n\n> Wait\n\n## End/);
  });

  test("hidden text of an OpenDocument text", async () => {
    const style = `<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>`;
    const body = `<text:p>Shown <text:span text:style-name="T1">secret</text:span><text:hidden-text>more</text:hidden-text>text</text:p>`;
    const file = zipOf({
      mimetype: "application/vnd.oasis.opendocument.text",
      "content.xml": `<office:document-content><office:automatic-styles>${style}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    });
    assert.equal((await readPage(file)).text, "Shown text");
    assert.match((await readPage(odt())).text, /all regions/);
  });

  test("hidden and deleted text of RTF, until it is switched off", async () => {
    const rtf = String.raw`{\rtf1\ansi{\stylesheet{\s1\v0 heading 1;}{\s2\v Secret;}}\pard\s1 Title\par\pard One {\v secret {\b more}}two \v gone\v0  three {\deleted old }four \v lost\plain  five\par}`;
    const page = await readPage(Buffer.from(rtf, "latin1"));
    assert.equal(page.text.replace(/\s+/g, " "), "Title One two three four five");
    assert.equal(page.headings[0]?.text, "Title");
  });
});

describe("an RTF file is read in the code pages of its fonts", () => {
  const texts = async (body: string, header = "\\ansi\\ansicpg1252\\deff0") => {
    const fonts = String.raw`{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fcharset204 Arial CYR;}{\f2\fcharset161 Greek;}{\f3\fcharset128 MS Mincho;}{\f4\fcharset177 David;}{\f5\fcharset238{\*\falt x}Arial CE;}{\f6\fcharset255 Terminal;}{\f7\cpg1251 Own;}}`;
    return (await readPage(Buffer.from(`{\\rtf1${header}${fonts}\\pard ${body}\\par}`, "latin1"))).text;
  };

  test("Cyrillic, Greek, Hebrew, Czech and the page of a terminal in one document", async () => {
    assert.equal(await texts(String.raw`{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} caf\'e9`), "Привет café");
    assert.equal(await texts(String.raw`\f2 \'c3\'e5\'e9\'e1\f0  \'fc`), "Γεια ü");
    assert.equal(await texts(String.raw`{\f4 \'f9\'ec\'e5\'ed} {\f5 \'e8e\'9atina} {\f6 \'84}`), "שלום čeština ä");
    assert.equal(await texts(String.raw`\f7 \'e4\'e0 \plain \'e4`), "да ä");
  });

  test("Japanese: two bytes, of which the second may be a letter, and one byte", async () => {
    // テ is 83 65, and 65 is the letter e; ｱ has one byte.
    assert.equal(await texts(String.raw`\f3 \'83e\'83\'58\'83g\'b1a`), "テストｱa");
  });

  test("properties that are written twice are read in Unicode", async () => {
    const info = String.raw`{\rtf1\ansi{\info{\upr{\title \'3f\'3f 2025}{\*\ud{\title \u1055\'3f\u1056\'3f 2025}}}{\author Ada}}\pard Text\par}`;
    const page = await readPage(Buffer.from(info, "latin1"));
    assert.deepEqual([page.title, page.author], ["ПР 2025", "Ada"]);
  });

  test("the code page of the document: of a Macintosh, of MS-DOS, or bytes as they are", async () => {
    assert.equal(await texts("caf\\'8e", "\\mac"), "café");
    assert.equal(await texts("caf\\'82", "\\pc"), "café");
    assert.equal(await texts("\xcf\xf0\xe8", "\\ansi\\ansicpg1251"), "При");
    assert.equal(await texts("{\\f1 \\u1055?\\'f0}", "\\ansi"), "Пр");
  });
});
