/** The halves of the day in times: `3:30 p. m.`, `下午3:30`, `3:30 μ.μ.`; names from CLDR. */

interface DayPeriods {
  /** Before the digits. The first group is set for the second half. */
  before: RegExp;
  after: RegExp;
}

/** In any language. */
const AM = ["am", "上午", "午前", "凌晨", "早上", "清晨", "오전", "새벽", "πμ", "पूर्वाह्न"];
const PM = ["pm", "下午", "午後", "午后", "晚上", "傍晚", "오후", "저녁", "μμ", "अपराह्न"];
const IN_ARABIC = { am: ["ص", "صباحا", "صباحًا"], pm: ["م", "مساء", "مساءً"] };

const cache = new Map<string, DayPeriods>();
const MAX_CACHED = 100;

export function dayPeriods(language: string | null): DayPeriods {
  const key = language ?? "";
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const isArabic = /^ar\b/i.test(key);
  const am = patternOf([...AM, ...(isArabic ? IN_ARABIC.am : []), ...ownName(language, 9)]);
  const pm = patternOf([...PM, ...(isArabic ? IN_ARABIC.pm : []), ...ownName(language, 21)]);
  const periods: DayPeriods = {
    before: new RegExp(`^(?:(${pm})|${am}) ?(?=\\d)`, "iu"),
    after: new RegExp(`^\\.? ?(?:(${pm})|${am})(?![\\p{L}\\p{M}])`, "iu"),
  };
  if (cache.size < MAX_CACHED) cache.set(key, periods);
  return periods;
}

/** With or without periods and spaces. */
function patternOf(names: readonly string[]): string {
  return names.map((name) => `${[...name].join("\\.? ?")}\\.?`).join("|");
}

function ownName(language: string | null, hour: number): string[] {
  if (language === null) return [];
  try {
    const format = new Intl.DateTimeFormat(language.replaceAll("_", "-"), {
      hour: "numeric",
      hour12: true,
      timeZone: "UTC",
    });
    const parts = format.formatToParts(Date.UTC(2024, 0, 1, hour));
    const name = parts.find(({ type }) => type === "dayPeriod")?.value.replace(/[^\p{L}\p{M}]/gu, "") ?? "";
    return name === "" ? [] : [name];
  } catch {
    // Not a valid language tag.
    return [];
  }
}
