import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBody } from "../../src/domain/text/charset.ts";

/** Every character that an encoding has, with its bytes. */
function tableOf(charset: string): Map<string, number[]> {
  const table = new Map<string, number[]>();
  const decoder = new TextDecoder(charset);
  const put = (bytes: number[]) => {
    const text = decoder.decode(Uint8Array.from(bytes));
    if ([...text].length === 1 && text !== "\ufffd" && !table.has(text)) table.set(text, bytes);
  };
  for (let first = 0; first < 256; first += 1) put([first]);
  if (!/^(?:windows|iso|koi|ibm|x-mac|mac)/.test(charset)) {
    for (let first = 0x81; first < 256; first += 1)
      for (let second = 0x40; second < 256; second += 1) put([first, second]);
  }
  return table;
}

/** windows-1258 has letters and tones apart. */
function withTonesApart(text: string, table: Map<string, number[]>): string {
  return [...text]
    .map((letter) => {
      if (table.has(letter)) return letter;
      const [base, ...marks] = letter.normalize("NFD");
      const tones = marks.filter((mark) => "\u0300\u0301\u0303\u0309\u0323".includes(mark));
      return [base, ...marks.filter((mark) => !tones.includes(mark))].join("").normalize("NFC") + tones.join("");
    })
    .join("");
}

/** A page of mostly markup, as pages are, that says nothing of its encoding. */
function pageOf(text: string, charset: string): { html: string; bytes: Buffer } {
  const table = tableOf(charset);
  const written = charset === "windows-1258" ? withTonesApart(text, table) : text;
  const menu = '<li class="menu-item"><a href="/category/list?page=2" class="button primary">Shop</a></li>'.repeat(
    1000,
  );
  const html = `<!doctype html><html><head><title>${written.slice(0, 30)}</title><style>body { margin: 0 }</style>
<script>window.dataLayer = window.dataLayer || [];</script></head><body><ul>${menu}</ul><p>${written}</p></body></html>`;
  const bytes = [...html].map((letter) => table.get(letter));
  assert.equal(bytes.indexOf(undefined), -1, `${charset} has every letter`);
  return { html, bytes: Buffer.from(bytes.flatMap((list) => list ?? [])) };
}

const CENTRAL = "windows-1250 iso-8859-2";
const CYRILLIC = "windows-1251 iso-8859-5 ibm866 x-mac-cyrillic";
const BALTIC = "windows-1257 iso-8859-13 iso-8859-4";

const TEXTS: readonly [language: string, charsets: string, text: string][] = [
  [
    "Czech",
    CENTRAL,
    "Ráno vyšlo slunce a děti běžely k řece. Starý rybář seděl na břehu a čekal, až se něco chytí. Řekl jim, že dnes je voda příliš studená.",
  ],
  [
    "Slovak",
    CENTRAL,
    "Ráno vyšlo slnko a deti bežali k rieke. Starý rybár sedel na brehu a čakal, kým sa niečo chytí. Povedal im, že voda je dnes príliš studená, a kúpať sa nebudú.",
  ],
  [
    "Polish",
    CENTRAL,
    "Rano wzeszło słońce i dzieci pobiegły nad rzekę. Stary rybak siedział na brzegu i czekał, aż coś złapie. Powiedział im, że woda jest dziś zbyt zimna.",
  ],
  [
    "Hungarian",
    CENTRAL,
    "Reggel felkelt a nap, és a gyerekek a folyóhoz futottak. Az öreg halász a parton ült, és várta, hogy fogjon valamit. Azt mondta, a víz ma túl hűvös a fürdőzéshez.",
  ],
  [
    "Croatian",
    CENTRAL,
    "Ujutro je izašlo sunce i djeca su potrčala prema rijeci. Stari je ribar sjedio na obali i čekao da nešto ulovi. Rekao im je da je voda danas još previše hladna za kupanje.",
  ],
  [
    "Slovenian",
    CENTRAL,
    "Zjutraj je vzšlo sonce in otroci so stekli k reki. Stari ribič je sedel na bregu in čakal, da bi kaj ujel. Rekel jim je, da je voda danes še premrzla za kopanje.",
  ],
  [
    "Romanian",
    CENTRAL,
    "Dimineaţa a răsărit soarele şi copiii au alergat spre râu. Bătrânul pescar stătea pe mal şi aştepta să prindă ceva. Le-a spus că apa este încă prea rece.",
  ],
  [
    "Russian",
    `${CYRILLIC} koi8-r`,
    "Утром взошло солнце, и дети побежали к реке. Старый рыбак сидел на берегу и ждал, пока что-нибудь поймается. Он сказал, что вода сегодня слишком холодная.",
  ],
  [
    "Bulgarian",
    CYRILLIC,
    "Сутринта изгря слънцето и децата хукнаха към реката. Старият рибар седеше на брега и чакаше да хване нещо. Каза им, че водата днес е твърде студена.",
  ],
  [
    "Ukrainian",
    "windows-1251 koi8-u",
    "Уранці зійшло сонце, і діти побігли до річки. Старий рибалка сидів на березі та чекав, доки щось упіймається. Він сказав, що вода сьогодні занадто холодна.",
  ],
  [
    "Greek",
    "windows-1253 iso-8859-7",
    "Το πρωί βγήκε ο ήλιος και τα παιδιά έτρεξαν στο ποτάμι. Ο γέρος ψαράς καθόταν στην όχθη και περίμενε να πιάσει κάτι. Άλλη μέρα, τους είπε, το νερό θα είναι πιο ζεστό.",
  ],
  [
    "Turkish",
    "windows-1254",
    "Sabah güneş doğdu ve çocuklar nehre koştu. Yaşlı balıkçı kıyıda oturmuş, bir şey yakalamayı bekliyordu. Onlara suyun bugün yüzmek için çok soğuk olduğunu söyledi.",
  ],
  [
    "Hebrew",
    "windows-1255 iso-8859-8",
    "בבוקר זרחה השמש והילדים רצו אל הנהר. הדייג הזקן ישב על הגדה וחיכה שמשהו ייתפס. הוא אמר להם שהמים היום קרים מדי לשחייה.",
  ],
  [
    "Arabic",
    "windows-1256 iso-8859-6",
    "في الصباح أشرقت الشمس وركض الأطفال إلى النهر. كان الصياد العجوز جالسا على الضفة ينتظر أن يصطاد شيئا. قال لهم إن الماء اليوم بارد جدا للسباحة.",
  ],
  [
    "Lithuanian",
    BALTIC,
    "Rytą patekėjo saulė ir vaikai nubėgo prie upės. Senas žvejys sėdėjo ant kranto ir laukė, kol ką nors pagaus. Jis pasakė, kad šiandien vanduo dar per šaltas maudytis.",
  ],
  [
    "Latvian",
    BALTIC,
    "No rīta uzlēca saule, un bērni skrēja uz upi. Vecais zvejnieks sēdēja krastā un gaidīja, kad kaut kas noķersies. Viņš teica, ka ūdens šodien ir pārāk auksts.",
  ],
  [
    "Estonian",
    BALTIC,
    "Hommikul tõusis päike ja lapsed jooksid jõe äärde. Vana kalur istus kaldal ja ootas, et midagi näkkaks. Ta ütles neile, et vesi on täna ujumiseks liiga külm.",
  ],
  [
    "Vietnamese",
    "windows-1258",
    "Buổi sáng mặt trời mọc và lũ trẻ chạy ra bờ sông. Ông lão đánh cá ngồi bên bờ chờ cá cắn câu. Ông nói với chúng rằng hôm nay nước quá lạnh để bơi.",
  ],
  [
    "Thai",
    "windows-874",
    "ตอนเช้าพระอาทิตย์ขึ้น เด็กๆ วิ่งไปที่แม่น้ำ ชาวประมงแก่นั่งอยู่ริมฝั่งและรอให้ปลากินเหยื่อ เขาบอกพวกเขาว่าวันนี้น้ำเย็นเกินไปสำหรับการว่ายน้ำ",
  ],
  [
    "French",
    "windows-1252 macintosh",
    "Le matin, le soleil s'est levé et les enfants ont couru jusqu'à la rivière. Le vieux pêcheur était assis sur la berge. Il leur a dit que l'eau était déjà très fraîche, même en été.",
  ],
  [
    "German",
    "windows-1252",
    "Am Morgen ging die Sonne auf, und die Kinder liefen zum Fluß. Der alte Fischer saß am Ufer und wartete. Er erzählte, das Wasser sei heute für Schwimmer zu kühl – „später vielleicht“.",
  ],
  [
    "Spanish",
    "windows-1252",
    "Por la mañana salió el sol y los niños corrieron al río. ¿Qué esperaba el viejo pescador? Les dijo que el agua estaba aún demasiado fría para un baño.",
  ],
  [
    "Portuguese",
    "windows-1252",
    "De manhã o sol nasceu e as crianças correram até ao rio. O velho pescador não estava à espera de ninguém. Disse-lhes que a água ainda está muito fria.",
  ],
  [
    "Swedish",
    "windows-1252",
    "På morgonen gick solen upp och barnen sprang ner till ån. Den gamle fiskaren satt på stranden och väntade. Han sade att vattnet är för kallt för att bada i.",
  ],
  [
    "Icelandic",
    "windows-1252",
    "Um morguninn kom sólin upp og börnin hlupu niður að ánni. Gamli sjómaðurinn sat á bakkanum og beið. Hann sagði þeim að vatnið væri of kalt til að synda í.",
  ],
  [
    "Japanese",
    "shift_jis euc-jp",
    "朝になると太陽が昇り、子供たちは川へ走って行った。年老いた漁師は岸に座って、魚がかかるのを待っていた。今日の水は泳ぐには冷たすぎると言った。",
  ],
  [
    "Korean",
    "euc-kr",
    "아침에 해가 뜨자 아이들은 강으로 달려갔다. 늙은 어부는 강가에 앉아 고기가 잡히기를 기다리고 있었다. 그는 오늘 물이 너무 차갑다고 말했다.",
  ],
  [
    "simplified Chinese",
    "gb18030",
    "早晨太阳升起来了，孩子们跑到河边。老渔夫坐在岸上，等着鱼儿上钩。他对孩子们说，今天的水太冷了，不能游泳。",
  ],
  [
    "traditional Chinese",
    "big5",
    "早晨太陽升起來了，孩子們跑到河邊。老漁夫坐在岸上，等著魚兒上鉤。他對孩子們說，今天的水太冷了，不能游泳。",
  ],
];

for (const [language, charsets, text] of TEXTS) {
  for (const charset of charsets.split(" ")) {
    test(`a page in ${language} that does not say it is in ${charset} is read`, () => {
      const { html, bytes } = pageOf(text, charset);
      assert.equal(decodeBody(bytes, "text/html").text, html);
      assert.equal(decodeBody(bytes, `text/html; charset=${charset}`).text, html);
    });
  }
}

const WESTERN = [
  "Prices from £5 – save 20% today",
  "© 2024 Example Inc.",
  "It’s “the” best… naïve café",
  "50 °C ± 2 µm, ½ cup, 80 m²",
  "€ 12,50 • €9.99 – buy now »",
  "Señor Muñoz, ¿qué tal?",
  "10×20 cm · 5¢",
  "Zoë Brontë",
  "Ï",
];

for (const text of WESTERN) {
  test(`a few signs and letters are Western: ${text}`, () => {
    const table = tableOf("windows-1252");
    const bytes = Buffer.from([...text].flatMap((letter) => table.get(letter) ?? []));
    assert.deepEqual(decodeBody(bytes, null), { text, charset: "windows-1252" });
  });
}

test("bytes without any meaning are read as Western text, not as the likeliest jumble", () => {
  const bytes = Buffer.from(Array.from({ length: 600 }, (_, index) => 128 + ((index * 73) % 127)));
  assert.equal(decodeBody(bytes, null).charset, "windows-1252");
});

test("ISO-2022-JP is known by the sequences that switch to it, and by nothing less", () => {
  const bytes = Buffer.from("<p>\x1b$B$3$l$OF|K\\8l$G$9\x1b(B</p>", "latin1");
  assert.deepEqual(decodeBody(bytes, null), { text: "<p>これは日本語です</p>", charset: "iso-2022-jp" });
  assert.equal(decodeBody(Buffer.from("<p>cost: $B 5\x1b</p>"), null).charset, "utf-8");
});

test("a page of scripts and comments that are never closed takes no time", () => {
  const start = performance.now();
  for (const piece of ["<script ", "<!--", "<style>", "<a ", "\xe9<", "<script></script>\xe9"]) {
    decodeBody(Buffer.from(`\xe9${piece.repeat(200_000)}`, "latin1"), null);
  }
  assert.ok(performance.now() - start < 5000);
});
