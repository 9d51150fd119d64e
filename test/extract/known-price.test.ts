import assert from "node:assert/strict";
import { test } from "node:test";
import { known, ld, og, PAGE } from "./known-field.ts";

function money(html: string, url?: string): string {
  return `${known("price", html, url)} ${known("currency", html, url)}`;
}

const visible = (text: string, language = "") => `<html lang="${language}"><p class="price">${text}</p>`;

const SHOWN: readonly [text: string, language: string, money: string][] = [
  ["<del>$20</del><ins>$15</ins>", "en-US", "15 USD"],
  ["<s>$20</s> $15", "en-US", "15 USD"],
  ["<span class=old-price>$20</span> <span>$15</span>", "en-US", "15 USD"],
  ["<span class=compare-at>$20</span> <span>$15</span>", "en-US", "15 USD"],
  ["1 299 kr", "sv", "1299 SEK"],
  ["1 299 kr", "nb-NO", "1299 NOK"],
  ["1.299 kr.", "da", "1299 DKK"],
  ["1.299 kr.", "is", "1299 ISK"],
  ["1299:-", "sv-SE", "1299 SEK"],
  ["99 kr", "en", "99 null"],
  ["CA$20", "en", "20 CAD"],
  ["C$20", "en", "20 CAD"],
  ["A$20", "", "20 AUD"],
  ["NZ$20", "", "20 NZD"],
  ["HK$20", "", "20 HKD"],
  ["S$20", "", "20 SGD"],
  ["US$20", "en-CA", "20 USD"],
  ["$15 CAD", "en", "15 CAD"],
  ["15,99 $ CA", "fr", "15.99 CAD"],
  ["$20", "", "20 USD"],
  ["$20", "en", "20 USD"],
  ["$20", "en-US", "20 USD"],
  ["$20", "en-CA", "20 CAD"],
  ["$20", "en_AU", "20 AUD"],
  ["$1,299", "es-MX", "1299 MXN"],
  ["$20", "es", "20 null"],
  ["$20", "de", "20 USD"],
  ["¥128", "zh-CN", "128 CNY"],
  ["¥128", "ja", "128 JPY"],
  ["¥128", "en", "128 null"],
  ["1万2800円", "ja", "12800 JPY"],
  ["R$ 1.299,00", "pt-BR", "1299 BRL"],
  ["12 990 Ft", "hu", "12990 HUF"],
  ["199 lei", "ro", "199 RON"],
  ["25 лв.", "bg", "25 BGN"],
  ["1 299 руб.", "ru", "1299 RUB"],
  ["250 грн", "uk", "250 UAH"],
  ["12,99 zł", "pl", "12.99 PLN"],
  ["1 299,00 Kč", "cs", "1299 CZK"],
  ["129.000 ₫", "vi", "129000 VND"],
  ["฿350", "th", "350 THB"],
  ["₦5,000", "en-NG", "5000 NGN"],
  ["₱499", "en-PH", "499 PHP"],
  ["Rs. 1,299", "en-IN", "1299 INR"],
  ["Save 20% – now €15", "en", "15 EUR"],
  ["TRY 3 MONTHS", "en", "null null"],
  ["Was $20, now $15", "en", "15 USD"],
  ["List price: $20 Now: $15", "en", "15 USD"],
  ["Regular price $20", "en", "20 USD"],
  ["statt 20,00 € nur 15,00 €", "de", "15 EUR"],
  ["UVP 20,00 € 15,00 €", "de", "15 EUR"],
  ["Save $5 $15", "en", "15 USD"],
  ["12x de R$ 99,90", "pt-BR", "null null"],
  ["R$ 1.299,90 ou 12x de R$ 108,32", "pt-BR", "1299.9 BRL"],
  ["$ 19 . 99", "en", "19.99 USD"],
  ["$19 99", "en", "null null"],
  ["19€99", "fr", "19.99 EUR"],
  ["$20$15", "en", "20 USD"],
  ["€ 1.299,-", "", "1299 EUR"],
  ["$1,299", "es", "1299 null"],
  ["1만 2,900원", "ko", "12900 KRW"],
  ["kr.1.299,00", "da", "1299 DKK"],
  ["Rs.500/-", "en-IN", "500 INR"],
  ["1,299 บาท", "th", "1299 THB"],
  ["١٬٢٩٩٫٠٠ ر.س", "ar", "1299 SAR"],
];

for (const [text, language, expected] of SHOWN) {
  test(`a page in "${language}" that shows ${text} costs ${expected}`, () => {
    assert.equal(money(visible(text, language)), expected);
  });
}

test("a dollar on a site of a country with its own is that country's; signs that contradict each other leave it open", () => {
  assert.equal(money(visible("$20", "en"), "https://shop.example.ca/x"), "20 CAD");
  assert.equal(money(visible("$20"), "https://shop.com.au/x"), "20 AUD");
  assert.equal(money(visible("$20", "en-US"), "https://shop.com.au/x"), "20 null");
  assert.equal(money(visible("99 kr", "en"), "https://shop.se/x"), "99 SEK");
});

test("the price before a reduction does not count, wherever it is marked", () => {
  assert.equal(known("price", `<div class=old-price><span class=price>$20</span></div><b class=price>$15</b>`), 15);
  assert.equal(known("price", `<p class=price><del>$20</del></p>`), null);
});

test("the price is neither a former one that only screen readers hear, nor that of a unit, nor of the delivery", () => {
  const woo = `<p class=price><del><span class=amount>$20.00</span></del>
    <span class=screen-reader-text>Original price was: $20.00.</span><ins><span class=amount>$15.00</span></ins>
    <span class=screen-reader-text>Current price is: $15.00.</span></p>`;
  const heard = `<div class=price><span class=sr-only>Original price</span> <span>$20</span>
    <span class=sr-only>Current price</span><span>$15</span></div>`;
  const drawn = `<span class=price style="text-decoration:line-through">$20</span><span class=price>$15</span>`;
  const unit = `<span class=unit-price>$3 / kg</span><span class=price>$15</span>`;
  const delivery = `<span class=shipping-price>$4.99</span><span class=price>$15</span>`;
  for (const html of [woo, heard, drawn, unit, delivery]) assert.equal(known("price", html), 15, html);
});

test("cents may be raised, or in an element of their own; a footnote is none", () => {
  for (const [html, price] of [
    ["$19<sup>99</sup>", 19.99],
    ["1.299<sup>99</sup> <small>Lei</small>", 1299.99],
    ["19<sup>€99</sup>", 19.99],
    ["$<span>19</span><span class=cents>99</span>", 19.99],
    ["$19.99<sup>1</sup>", 19.99],
    ["$19<sup>1</sup>", 19],
  ] as const)
    assert.equal(known("price", `<p class=price>${html}</p>`), price, html);
});

test("what a newspaper's subscription costs is not the article's price", () => {
  const offer = `<div class="offer"><span class="price">$1 a week</span></div>`;
  assert.equal(known("price", ld({ "@type": "NewsArticle", headline: "News" }) + offer), null);
  assert.equal(known("price", og("og:type", "article") + offer), null);
  const tested = ld([
    { "@type": "NewsArticle", headline: "News" },
    { "@type": "Product", offers: { price: 7 } },
  ]);
  assert.equal(known("price", tested + offer), 7);
});

test("a list of products has no price, a cart in the header neither", () => {
  const list = ["$1", "$2", "$3"].map((price) => `<li class=item><b class=price>${price}</b></li>`).join("");
  assert.equal(known("price", `<ul>${list}</ul>`), null);
  assert.equal(known("price", `<div class="cart"><b class=amount>$0.00</b></div><b class=price>$15</b>`), 15);
  assert.equal(known("price", `<h1>Chair</h1><b class=price>$15</b><ul>${list}</ul>`), 15);
});

const product = (offers: unknown, more: object = {}) => ld({ "@type": "Product", name: "Chair", offers, ...more });

test("data is read alike in all languages", () => {
  const german = (price: unknown) => known("price", `<html lang=de>${product({ price })}`);
  assert.equal(german("1.299"), 1.299);
  assert.equal(german("1299.00"), 1299);
  assert.equal(german("1,299.00"), 1299);
  assert.equal(german("12,50"), 12.5);
  const item = (price: string) => `<html lang=de><div itemscope itemtype=https://schema.org/Product>${price}</div>`;
  assert.equal(known("price", item("<b itemprop=price content=1.299>1.299 €</b>")), 1.299);
  assert.equal(money(item("<b itemprop=price>1.299 €</b>")), "1299 EUR");
  assert.equal(known("price", `<html lang=de>${og("product:price:amount", "1.299")}`), 1.299);
});

test("price and currency come from the same offer", () => {
  assert.equal(money(product([{ price: 20 }, { price: 30, priceCurrency: "USD" }])), "20 null");
  const other = og("product:price:amount", "9") + og("product:price:currency", "GBP");
  assert.equal(money(product({ price: 20 }) + other), "20 null");
  assert.equal(money(og("product:price:amount", "9") + og("og:price:currency", "GBP")), "9 null");
  assert.equal(money(product({ price: "€20" })), "20 EUR");
});

test("of several offers the lowest in stock counts, or the one whose address is the page's", () => {
  const offers = [
    { price: 30, priceCurrency: "EUR", url: `${PAGE}?variant=1` },
    { price: 20, priceCurrency: "EUR", url: `${PAGE}?variant=2` },
    { price: 10, priceCurrency: "EUR", availability: "https://schema.org/OutOfStock" },
  ];
  assert.equal(money(product(offers)), "20 EUR");
  assert.equal(money(product(offers), `${PAGE}?variant=1`), "30 EUR");
  assert.equal(
    money(
      product([
        { price: 30, priceCurrency: "EUR" },
        { price: 20, priceCurrency: "USD" },
      ]),
    ),
    "30 EUR",
  );
  assert.equal(money(product({ lowPrice: 5, highPrice: 9, priceCurrency: "EUR", offers: [{ price: 7 }] })), "5 EUR");
  assert.equal(money(product({ offers: [{ price: 7, priceCurrency: "EUR" }] })), "7 EUR");
});

test("the variants of a product give its price: the lowest", () => {
  const variant = (price: number) => ({ "@type": "Product", offers: { price, priceCurrency: "EUR" } });
  const group = { "@type": "ProductGroup", name: "Shirt", hasVariant: [variant(25), variant(20), { "@id": "#last" }] };
  assert.equal(money(ld(group)), "20 EUR");
  assert.equal(money(ld([group, { ...variant(15), "@id": "#last" }])), "15 EUR");
});

test("a list price beside the price does not count", () => {
  const priceSpecification = [
    { price: 30, priceCurrency: "EUR", priceType: "https://schema.org/ListPrice" },
    { price: 20, priceCurrency: "EUR" },
  ];
  assert.equal(money(product({ priceSpecification })), "20 EUR");
});
