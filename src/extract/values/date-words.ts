/** Names of months and time zones. */

const MONTHS: Record<string, string> = {
  en: "january february march april may june july august september october november december",
  de: "januar februar märz april mai juni juli august september oktober november dezember",
  fr: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
  es: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
  it: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
  pt: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
  nl: "januari februari maart april mei juni juli augustus september oktober november december",
};

/** Whole names, and short forms of three letters or more that mean one month in all of these languages. */
function buildMonths(): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  const unclear = new Set<string>();
  for (const list of Object.values(MONTHS)) {
    for (const [index, name] of list.split(" ").entries()) {
      for (let length = 3; length <= name.length; length += 1) {
        const form = plain(name.slice(0, length));
        const known = names.get(form);
        if (known !== undefined && known !== index + 1) unclear.add(form);
        names.set(form, index + 1);
      }
    }
  }
  // `jui` may be June or July, `mar` is March in all of them.
  for (const form of unclear) names.delete(form);
  names.set("sept", 9);
  names.set("mrz", 3);
  return names;
}

function plain(word: string): string {
  return word.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}

const NAMES = buildMonths();

export function monthNumber(word: string): number | null {
  return NAMES.get(plain(word.replace(/\.$/, ""))) ?? null;
}

/** Minutes east of Greenwich. Names that mean several zones (IST, and AST's three) are left out. */
export const ZONES: Readonly<Record<string, number>> = {
  Z: 0,
  UT: 0,
  UTC: 0,
  GMT: 0,
  WET: 0,
  WEST: 60,
  BST: 60,
  CET: 60,
  MEZ: 60,
  CEST: 120,
  MESZ: 120,
  EET: 120,
  EEST: 180,
  MSK: 180,
  JST: 540,
  KST: 540,
  AEST: 600,
  AEDT: 660,
  NZST: 720,
  NZDT: 780,
  EST: -300,
  EDT: -240,
  ET: -300,
  CST: -360,
  CDT: -300,
  MST: -420,
  MDT: -360,
  PST: -480,
  PDT: -420,
};
