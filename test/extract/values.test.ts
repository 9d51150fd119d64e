import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../support/properties.ts";
import { parseHtml } from "../../src/extract/dom/parse.ts";
import { cleanHtml } from "../../src/extract/values/clean-html.ts";
import { parseDate } from "../../src/extract/values/date.ts";
import { parseNumber } from "../../src/extract/values/number.ts";
import { UNEVEN_IN_LINE } from "../../src/extract/article/plain-text.ts";
import { oneSpaced, squeeze } from "../../src/extract/dom/text.ts";

const NUMBERS: readonly [text: string, number: number | null, language?: string][] = [
  ["£51.77", 51.77],
  ["1.234,56 €", 1234.56],
  ["1 234,56", 1234.56],
  ["1\u202f234,56\u00a0€", 1234.56],
  ["12 345 678,9", 12345678.9],
  ["(5)", 5],
  ["(128)", 128],
  ["($1,234.50)", -1234.5],
  ["(1.234,50 €)", -1234.5],
  ["(EUR 5)", -5],
  ["$1,299", 1299, "es-MX"],
  ["$1.299", 1.299, "es-MX"],
  ["$1.299", 1299, "es-AR"],
  ["$1,299", 1299, "es-419"],
  ["R1,299", 1299, "en-ZA"],
  ["￥１２，８００", 12800],
  ["1.299.00", 1299],
  ["1,299,00", 1299],
  ["1.2.3", null],
  ["01.05.2024", null],
  ["192.168.1.1", null],
  ["1,23.45", null],
  ["1,234.56,7", null],
  ["09:15", null],
  ["1万2800円", 12800],
  ["3億5000万", 350_000_000],
  ["2千万円", 20_000_000],
  ["1.5万", 15_000],
  ["1만 2000원", 12_000],
  ["1.2M", 1_200_000],
  ["1.2MB", 1.2],
  ["3.2K", 3200],
  ["3,2k Aufrufe", 3200, "de"],
  ["$1.2B", 1_200_000_000],
  ["512B", 512],
  ["1.2B views", 1_200_000_000],
  ["16:9", null],
  ["2 ¾ cups", 2.75],
  ["1 1/2 cups", 1.5],
  ["4.5/5", 4.5],
  ["3/5 stars", 3],
  ["1.5 million", 1_500_000],
  ["2,5 Mio. €", 2_500_000, "de"],
  ["1,2 Mrd. Euro", 1_200_000_000, "de"],
  ["3 billion", 3_000_000_000, "en-GB"],
  ["3 billions", null, "fr"],
  ["25 mil", 25_000, "es"],
  ["2.5 lakh", 250_000],
  ["12 Mill Lane", 12],
  ["5 m", 5],
  ["1½ cups", 1.5],
  ["CHF-4.20", -4.2],
  ["-kr 5,00", -5],
  ["১,২৩৪.৫", 1234.5],
  ["12 %", 12],
  ["12.5%", 12.5],
  ["1,234", 1234],
  ["1,234", 1.234, "de"],
  ["1.234", 1.234],
  ["1.234", 1234, "de-AT"],
  ["1.000.000", 1_000_000],
  ["1,23,456.78", 123456.78],
  ["1'234.50", 1234.5],
  ["0,50", 0.5],
  [".5", 0.5],
  ["0.123", 0.123, "de"],
  ["-5", -5],
  ["−3,5", -3.5],
  ["-$4.20", -4.2],
  ["$ -4.20", -4.2],
  ["SKU-12", 12],
  ["10-20", 10],
  ["1e5", 100_000],
  ["٣٤٫٥", 34.5],
  ["from £51.77 to £60", 51.77],
  ["USD 1 299", 1299],
  ["Sold out", null],
  ["", null],
  ["Rs.500", 500],
  ["Rs.1,299/-", 1299, "en-IN"],
  ["kr.12,50", 12.5, "da"],
  ["kr-3.25", -3.25],
  ["-JP¥3", -3],
  ["−% 325", -325, "eu"],
  ["$(45)", -45],
  ["$1,299", 1299, "es"],
  ["$1.299", 1299, "es"],
  ["$1,299", 1299, "fr-CA"],
  ["₡1,299", 1299, "es-CR"],
  ["₡1.299", 1299, "es-CR"],
  ["₡1.299", 1299, "en"],
  ["1,299 ₡", 1299, "es-CR"],
  ["₡12,50", 12.5, "es-CR"],
  ["1.299,-", 1299],
  ["1,299.–", 1299, "de"],
  ["1 234.567,89", null],
  ["1.23.456", null],
  ["$ 12 . 99", 12.99],
  ["€ 19 ,95", 19.95],
  ["$19 99", null],
  ["1\u00ad234", 1234],
  ["1/2 cup", null],
  ["3/4", null],
  ["½ cup", 0.5],
  ["⅚", 5 / 6],
  ["10^6", 1_000_000],
  ["1.5 × 10^−3", 0.0015],
  ["5E−1", 0.5],
  ["€1.5m", 1_500_000],
  ["1.5m", 1.5],
  ["$4.5tn", 4.5e12],
  ["1.2 trillion", 1.2e12, "en"],
  ["2 trillion", null, "de-AT"],
  ["1,2 M€", 1_200_000, "fr"],
  ["1,2 M", 1_200_000, "fr"],
  ["12 k abonnés", 12_000, "fr"],
  ["6500 K", 6500],
  ["38 M", 38],
  ["1.2 K", null],
  ["5B", null, "tr"],
  ["1,2 M", null, "id"],
  ["5 t", null, "da"],
  ["5 m", 5, "da"],
  ["5 km", 5, "ca"],
  ["5 εκ.", null, "el"],
  ["10rb terjual", 10_000, "id"],
  ["3 mil millones", 3_000_000_000, "es"],
  ["2 bin", 2000, "tr"],
  ["3 triệu", 3_000_000, "vi"],
  ["2 ล้านบาท", 2_000_000, "th"],
  ["12 हज़ार", 12_000, "hi"],
  ["1,2 millió", 1_200_000, "hu"],
  ["elfu 5", null, "sw"],
  ["5 万", 50_000],
  ["3百万", 3_000_000],
];

for (const [text, number, language] of NUMBERS) {
  test(`"${text}"${language === undefined ? "" : ` on a page in ${language}`} is the number ${number}`, () =>
    assert.equal(parseNumber(text, language ?? null), number));
}

const DATES: readonly [text: string, date: string | null, language?: string][] = [
  ["2024-05-01", "2024-05-01"],
  ["20240501", "2024-05-01"],
  ["2024-05-01T10:00:00+02:00", "2024-05-01T08:00:00Z"],
  ["2024-05-01T10:00:00.123456-0700", "2024-05-01T17:00:00.123Z"],
  ["2024-05-01 10:00", "2024-05-01T10:00:00Z"],
  ["Wed, 01 May 2024 10:30:00 GMT", "2024-05-01T10:30:00Z"],
  ["Wed, 1 May 2024 10:30:00 -0500", "2024-05-01T15:30:00Z"],
  ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"],
  ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"],
  ["May 1, 2024", "2024-05-01"],
  ["1 May 2024", "2024-05-01"],
  ["1st of May, 2024 10:30 pm", "2024-05-01T22:30:00Z"],
  ["May 1, 2024 10:30 AM EST", "2024-05-01T15:30:00Z"],
  ["July 4 2020 at 5:00 PM PDT", "2020-07-05T00:00:00Z"],
  ["Published on March 3rd, 2021 by X", "2021-03-03"],
  ["01.05.2024", "2024-05-01"],
  ["1. Mai 2024, 14:30 Uhr", "2024-05-01T14:30:00Z"],
  ["3 de marzo de 2021", "2021-03-03"],
  ["1.º de mayo de 2024", "2024-05-01", "es"],
  ["2024年5月1日 9時15分", "2024-05-01T09:15:00Z", "ja"],
  ["1 мая 2024 года в 09:15", "2024-05-01T09:15:00Z", "ru"],
  ["12 février 2020", "2020-02-12"],
  ["2024年5月1日", "2024-05-01"],
  ["2024/5/1", "2024-05-01"],
  ["31/12/2023", "2023-12-31"],
  ["12/31/2023", "2023-12-31"],
  ["03/04/2024", null],
  ["03/04/2024", null, "en"],
  ["03/04/2024", "2024-03-04", "en-US"],
  ["03/04/2024", "2024-04-03", "en-GB"],
  ["03/04/2024", "2024-04-03", "fr"],
  ["1714557600", "2024-05-01T10:00:00Z"],
  ["1714557600000", "2024-05-01T10:00:00Z"],
  ["2024-05-01 09:15 EST", "2024-05-01T14:15:00Z"],
  ["2024-05-01 09:15 XYZT", "2024-05-01"],
  ["2024-05-01 09:15 IST", "2024-05-01"],
  ["2024-05-01 09:15 IST", "2024-05-01T03:45:00Z", "en-IN"],
  ["2024-05-01 09:15 CST", "2024-05-01T01:15:00Z", "zh-CN"],
  ["July 4, 2024, 5:00 a.m. ET", "2024-07-04T09:00:00Z"],
  ["January 4, 2024, 5:00 a.m. ET", "2024-01-04T10:00:00Z"],
  ["July 4, 2024 5 PM Pacific Time", "2024-07-05T00:00:00Z"],
  ["Wed May 01 2024 10:00:00 GMT+0200 (Central European Summer Time)", "2024-05-01T08:00:00Z"],
  ["1 May 2024 10:30 UTC+2", "2024-05-01T08:30:00Z"],
  ["20240501T101500Z", "2024-05-01T10:15:00Z"],
  ["2024-05-01T10:00:00+02", "2024-05-01T08:00:00Z"],
  ["Wed, 01 May 24 10:30:00 GMT", "2024-05-01T10:30:00Z"],
  ["01 May 24 10:30 EDT", "2024-05-01T14:30:00Z"],
  ["May 1, 2024 10:30 BY JOHN", "2024-05-01T10:30:00Z"],
  ["v2024.1.2", null],
  ["2024.1.2.3", null],
  ["1–3 May 2024", "2024-05-01"],
  ["May 1-3, 2024", "2024-05-01"],
  ["28 April – 3 May 2024", "2024-04-28"],
  ["December 30 – January 2, 2024", "2023-12-30"],
  ["2024. 05. 01.", "2024-05-01"],
  ["2024. 5. 1", "2024-05-01"],
  ["01.05.24", "2024-05-01"],
  ["01/05/24", null],
  ["01/05/24", "2024-05-01", "fr"],
  ["01/05/24", "2024-01-05", "en-US"],
  ["24. 5. 1.", "2024-05-01", "ko"],
  ["1/5/67", null, "th"],
  ["1 พฤษภาคม 2567", "2024-05-01", "th"],
  ["۱۲ اردیبهشت ۱۴۰۳", null, "fa"],
  ["1403/02/12", null],
  ["令和6年5月1日", "2024-05-01"],
  ["2024년 5월 1일", "2024-05-01"],
  ["1 мая 2024 г.", "2024-05-01"],
  ["1 maja 2024", "2024-05-01"],
  ["1. toukokuuta 2024", "2024-05-01"],
  ["1. května 2024", "2024-05-01"],
  ["1 Mayıs 2024", "2024-05-01"],
  ["1 Μαΐου 2024", "2024-05-01"],
  ["2024. május 1.", "2024-05-01"],
  ["2024 m. gegužės 1 d.", "2024-05-01"],
  ["2024. gada 1. maijs", "2024-05-01"],
  ["1 במאי 2024", "2024-05-01"],
  ["١ مايو ٢٠٢٤", "2024-05-01"],
  ["1 मई 2024", "2024-05-01"],
  ["1 tháng 5, 2024", "2024-05-01"],
  ["1 listopada 2024", "2024-11-01", "pl"],
  ["1. listopada 2024.", "2024-10-01", "hr"],
  ["31.02.2024", null],
  ["2024-13-01", null],
  ["3 hours ago", null],
  ["May 2024", null],
  ["", null],
  ["1 to 3 May 2024", "2024-05-01"],
  ["1. bis 3. Mai 2024", "2024-05-01"],
  ["du 1er au 3 mai 2024", "2024-05-01"],
  ["с 1 по 3 мая 2024", "2024-05-01"],
  ["1 t/m 3 mei 2024", "2024-05-01"],
  ["1~3 May 2024", "2024-05-01"],
  ["1−3 May 2024", "2024-05-01"],
  ["1‑3 May 2024", "2024-05-01"],
  ["May 1 & 3, 2024", "2024-05-01"],
  ["May 28 to June 3, 2024", "2024-05-28"],
  ["28 de abril al 3 de mayo de 2024", "2024-04-28"],
  ["Issue 12 - 3 May 2024", "2024-05-03"],
  ["01.–03.05.2024", "2024-05-01"],
  ["28.04. bis 03.05.2024", "2024-04-28"],
  ["30.12. – 02.01.2024", "2023-12-30"],
  ["01.05.2024–03.05.2024", "2024-05-01"],
  ["28/04 - 03/05/2024", "2024-04-28", "fr"],
  ["04/28 - 05/03/2024", "2024-04-28", "en-US"],
  ["1 de mayo de 2024, 3:30 p. m.", "2024-05-01T15:30:00Z"],
  ["1 Μαΐου 2024, 3:30 μ.μ.", "2024-05-01T15:30:00Z"],
  ["١ مايو ٢٠٢٤ ٣:٣٠ م", "2024-05-01T15:30:00Z", "ar"],
  ["1 मई 2024, 3:30 अपराह्न", "2024-05-01T15:30:00Z", "hi"],
  ["2024. május 1. du. 3:30", "2024-05-01T15:30:00Z", "hu"],
  ["2024年5月1日 下午3:30", "2024-05-01T15:30:00Z"],
  ["2024年5月1日 午後3時30分", "2024-05-01T15:30:00Z"],
  ["2024. 5. 1. 오후 3:30", "2024-05-01T15:30:00Z"],
  ["2024-05-01 22:30 PM", "2024-05-01"],
  ["1. toukokuuta 2024 klo 15.30", "2024-05-01T15:30:00Z"],
  ["1er mai 2024 à 15 h 30", "2024-05-01T15:30:00Z"],
  ["1 May 2024 4.15 stars", "2024-05-01"],
  ["2024-05-01 09:15 Europe/Berlin", "2024-05-01T07:15:00Z"],
  ["2024-05-01T09:15[Nowhere/City]", "2024-05-01"],
  ["2024-05-01 09:15 est", "2024-05-01T14:15:00Z"],
  ["1 мая 2024, 09:15 (мск)", "2024-05-01T06:15:00Z"],
  ["May 1, 2024 9:15 AM London time", "2024-05-01"],
  ["1. Mai 2024 09:15 Uhr Ortszeit", "2024-05-01"],
  ["2024-05-01 09:15 heure de Paris", "2024-05-01"],
  ["1 พ.ค. 2567", "2024-05-01", "th"],
  ["Version 2024.1.2", null],
  ["Python 3.12.20", null],
  ["1.2.24", "2024-02-01", "de"],
  ["12345-2024-05-01", null],
  ["5551234567", null],
];

for (const [text, date, language] of DATES) {
  test(`"${text}"${language === undefined ? "" : ` on a page in ${language}`} is the date ${date}`, () =>
    assert.equal(parseDate(text, language ?? null), date));
}

const LOCALES = (
  "af am ar ar-EG az bg bn bs ca cs da de de-AT de-CH el en en-IN en-ZA es es-419 es-AR es-MX et eu fa fi fr fr-CH gl he hi hr " +
  "hu hy id is it ja ka kk km ko lt lv mk mr my nb ne nl pl pt pt-PT ro ru sk sl sq sr sv sw ta th tr uk ur uz vi zh zh-TW"
).split(" ");

test(`any number that is written in one of ${LOCALES.length} languages is read back, or not at all`, () => {
  const cents = fc.integer({ min: -99_999_999, max: 99_999_999 }).map((value) => value / 100);
  const unread = new Set<string>();
  const formats: Intl.NumberFormatOptions[] = [
    {},
    { minimumFractionDigits: 2 },
    ...["USD", "EUR", "CHF", "SEK"].map((currency) => ({ style: "currency" as const, currency })),
    { style: "currency", currency: "EUR", currencyDisplay: "code" },
    { style: "currency", currency: "GBP", currencySign: "accounting" },
  ];
  fc.assert(
    fc.property(cents, fc.constantFrom(...LOCALES), fc.constantFrom(...formats), (value, locale, format) => {
      const text = new Intl.NumberFormat(locale, format).format(value);
      const read = parseNumber(text, locale);
      if (read === null) unread.add(text);
      else assert.equal(read, value, `${text} in ${locale}`);
    }),
    { numRuns: 4000 },
  );
  assert.ok(unread.size < 40, [...unread].slice(0, 20).join(" | "));
});

test(`any number that is shortened in one of ${LOCALES.length} languages is read back, or not at all`, () => {
  // Metres are usual, and `m` for a thousand or a million is not: `1,2 m` stays 1.2.
  const isMetres = (text: string) => /\dm?[ \u00a0]m\.?(?!\p{L})/u.test(text);
  const numbers = fc.tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 3, max: 12 }));
  const formats: Intl.NumberFormatOptions[] = [
    { compactDisplay: "short" },
    { compactDisplay: "long" },
    { style: "currency", currency: "EUR" },
  ];
  let read = 0;
  fc.assert(
    fc.property(numbers, fc.constantFrom(...LOCALES), fc.constantFrom(...formats), ([count, power], locale, format) => {
      const value = count * 10 ** power;
      const options = { ...format, notation: "compact" as const, maximumFractionDigits: 3 };
      const text = new Intl.NumberFormat(locale, options).format(value);
      const parsed = parseNumber(text, locale);
      if (parsed === null || isMetres(text)) return;
      read += 1;
      assert.ok(Math.abs(parsed - value) <= value * 1e-9, `${text} in ${locale} is ${value}, read as ${parsed}`);
    }),
    { numRuns: 2000 },
  );
  assert.ok(read > 1500, `${read}`);
});

test("any moment written as ISO 8601 or in an HTTP header is read back", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => {
      const moment = new Date(seconds * 1000);
      const expected = moment.toISOString().replace(".000Z", "Z");
      assert.equal(parseDate(moment.toISOString()), expected);
      assert.equal(parseDate(moment.toUTCString()), expected);
    }),
  );
});

test(`any day that is written in one of ${LOCALES.length} languages is read back, or not at all`, () => {
  const days = fc.integer({ min: 0, max: 20_000 }).map((number) => new Date(number * 86_400_000));
  const unread = new Map<string, string>();
  let read = 0;
  const styles = ["full", "long", "medium", "short"] as const;
  fc.assert(
    fc.property(days, fc.constantFrom(...LOCALES), fc.constantFrom(...styles), (date, locale, dateStyle) => {
      const text = new Intl.DateTimeFormat(locale, { dateStyle, timeZone: "UTC" }).format(date);
      const parsed = parseDate(text, locale);
      if (parsed === null) unread.set(`${locale} ${dateStyle}`, text);
      else {
        read += 1;
        // Two digits may mean two centuries.
        const expected = date.toISOString().slice(0, 10);
        const isShort = dateStyle === "short" && !text.includes(expected.slice(0, 4));
        assert.equal(
          isShort ? parsed.slice(2) : parsed,
          isShort ? expected.slice(2) : expected,
          `${text} in ${locale}`,
        );
      }
    }),
    { numRuns: 4000 },
  );
  const told = [...unread].map(([where, text]) => `${where}: ${text}`).join("\n");
  assert.ok(read > 3600, told);
});

test(`any moment that is written in one of ${LOCALES.length} languages is read back, or its day, or not at all`, () => {
  const minutes = fc.integer({ min: 10_000_000, max: 30_000_000 }).map((number) => new Date(number * 60_000));
  const dates = ["full", "long", "medium"] as const;
  const times = ["long", "medium", "short"] as const;
  const zones = ["UTC", "America/New_York", "Asia/Tokyo"];
  let read = 0;
  fc.assert(
    fc.property(
      fc.tuple(minutes, fc.constantFrom(...LOCALES), fc.constantFrom(...dates), fc.constantFrom(...times)),
      fc.tuple(fc.constantFrom(...zones), fc.boolean()),
      ([date, locale, dateStyle, timeStyle], [timeZone, hour12]) => {
        // Without a zone in the text, the time is UTC's.
        const zone = timeStyle === "long" ? timeZone : "UTC";
        const format = new Intl.DateTimeFormat(locale, { dateStyle, timeStyle, timeZone: zone, hour12 });
        const text = format.format(date);
        const parsed = parseDate(text, locale);
        if (parsed === null) return;
        if (parsed.length > 10) read += 1;
        const local = new Intl.DateTimeFormat("en-CA", { dateStyle: "short", timeZone: zone }).format(date);
        const expected = parsed.length > 10 ? date.toISOString().replace(".000Z", "Z") : local;
        assert.equal(parsed, expected, `${text} in ${locale}`);
      },
    ),
    { numRuns: 3000 },
  );
  assert.ok(read > 1500, `${read}`);
});

test("no text makes a value parser throw or give nonsense", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
      const number = parseNumber(text);
      assert.ok(number === null || Number.isFinite(number));
      const date = parseDate(text);
      assert.ok(date === null || /^\d{4,6}-\d\d-\d\d(T[\d:.]+Z)?$/.test(date), String(date));
    }),
  );
});

function cleaned(html: string): string {
  const resolve = (address: string) => {
    const url = URL.parse(address, "https://site.example/");
    return url !== null && /^(https?|mailto):$/.test(url.protocol) ? url.href : null;
  };
  const html2 = parseHtml(`<!doctype html><body>${html}`).root.first;
  const body = html2?.kind === 1 ? html2.last : null;
  assert.ok(body?.kind === 1);
  return cleanHtml(body, resolve);
}

test("clean HTML has whole addresses and nothing that runs", () => {
  assert.equal(
    cleaned(`<p onclick="x()">a <a href="/b" style="x">b</a></p>`),
    `<p>a <a href="https://site.example/b">b</a></p>`,
  );
  assert.equal(cleaned(`<a href="javascript:alert(1)">x</a>`), "<a>x</a>");
  assert.equal(cleaned(`<a href=" java\nscript:alert(1)">x</a>`), "<a>x</a>");
  assert.equal(cleaned(`<img src=x onerror=alert(1)>`), `<img src="https://site.example/x">`);
  assert.equal(cleaned(`<script>x</script><style>y</style><iframe srcdoc="<script>"></iframe>z`), "z");
  assert.equal(cleaned(`<svg><script>x</script><a href="javascript:y">z</a></svg>`), "");
  assert.equal(cleaned(`<x-card><p>kept</p></x-card>`), "<p>kept</p>");
  assert.equal(cleaned(`&lt;script&gt; "q" &amp;`), `&lt;script&gt; "q" &amp;`);
  assert.equal(cleaned(`<p title='"><script>'>x</p>`), `<p title="&quot;&gt;&lt;script&gt;">x</p>`);
});

test("whatever HTML is cleaned, reading it again finds no script, handler or running address", () => {
  const pieces = fc.constantFrom(
    "<p>",
    "</p>",
    "<script>",
    "</script>",
    "<img src=x onerror=a>",
    "<a href='javascript:a'>",
    "</a>",
    "<svg>",
    "</svg>",
    "<math>",
    "<style>",
    "</style>",
    "<!--",
    "-->",
    "<title>",
    "</title>",
    "<textarea>",
    "<noscript>",
    "<table>",
    "<b onx=1>",
    '"',
    "'>",
    "<",
    "x",
    "&lt;script&gt;",
    "<form action=javascript:a>",
    "<mtext>",
    "<template>",
    "<xmp>",
    "<plaintext>",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (list) => {
      const again = cleaned(cleaned(list.join("")));
      assert.ok(!/<script|<svg|<style|<iframe/i.test(again), again);
      for (const match of again.matchAll(/<[^>]*>/g)) assert.ok(!/\son\w+=|javascript:/i.test(match[0]), again);
    }),
  );
});

test("text is evened out as if every run of white space were replaced, whatever it consists of", () => {
  const spaces = fc.constantFrom(" ", "  ", "\n", "\t", "\u00a0", "\u2003", "\ufeff", "a", "b_", "", "\r\n");
  fc.assert(
    fc.property(fc.array(spaces, { maxLength: 30 }), (parts) => {
      const text = parts.join("");
      assert.equal(oneSpaced(text), text.replace(/\s+/g, " "));
      assert.equal(text.replace(UNEVEN_IN_LINE, " "), text.replace(/[^\S\n]+/g, " "));
      assert.equal(squeeze(text), text.replace(/\s+/g, " ").trim());
    }),
  );
});
