/** Minutes east of UTC. Ambiguous names (AST) are omitted: a time with one of them is unknown. */
const OFFSETS: Readonly<Record<string, number>> = {
  ...{ Z: 0, UT: 0, UTC: 0, GMT: 0, WET: 0, WEST: 60, BST: 60, CET: 60, MEZ: 60, CEST: 120, MESZ: 120, SAST: 120 },
  ...{
    EET: 120,
    EEST: 180,
    MSK: 180,
    МСК: 180,
    TRT: 180,
    PKT: 300,
    WIB: 420,
    ICT: 420,
    HKT: 480,
    SGT: 480,
    AWST: 480,
    JST: 540,
  },
  ...{ KST: 540, ACST: 570, AEST: 600, ACDT: 630, AEDT: 660, NZST: 720, NZDT: 780, BRT: -180, ART: -180, NST: -210 },
  ...{ EST: -300, EDT: -240, CDT: -300, MST: -420, MDT: -360, PST: -480, PDT: -420, AKST: -540, AKDT: -480, HST: -600 },
};

/** Names that include daylight saving time. */
const TIME_ZONES: Readonly<Record<string, string>> = {
  ...{ ET: "America/New_York", CT: "America/Chicago", MT: "America/Denver", PT: "America/Los_Angeles" },
  ...{ EASTERN: "America/New_York", CENTRAL: "America/Chicago", MOUNTAIN: "America/Denver" },
  ...{ PACIFIC: "America/Los_Angeles" },
};

/** The offset in minutes; `moment` is the local time read as UTC. Null: unknown or ambiguous. */
export function zoneOffset(zone: string, moment: number, language: string | null): number | null {
  const name = zone.toUpperCase().replace(/^(?:UTC|GMT)(?=[+\u2212-])/, "");
  const numeric = /^([+\u2212-])(\d{1,2}):?(\d{2})?$/.exec(name);
  if (numeric !== null) {
    const minutes = Number(numeric[2]) * 60 + Number(numeric[3] ?? 0);
    return numeric[1] === "+" ? minutes : -minutes;
  }
  // CST is Chinese or American, IST Indian, Israeli or Irish: the page's language decides.
  const tag = language?.toLowerCase() ?? "";
  if (name === "CST") return tag.startsWith("zh") ? 480 : -360;
  if (name === "IST") return /^(?:hi|en-in|bn|ta|te|mr|gu|kn|ml|pa)\b/.test(tag) ? 330 : null;
  const timeZone = TIME_ZONES[name];
  return timeZone === undefined ? (OFFSETS[name] ?? null) : offsetAt(timeZone, moment);
}

/** By the name in the time zone database. Null: there is none such. */
export function offsetOfTimeZone(name: string, moment: number): number | null {
  try {
    return offsetAt(name, moment);
  } catch {
    return null;
  }
}

function offsetAt(timeZone: string, moment: number): number {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const at = (time: number) => {
    const name = format.formatToParts(time).find(({ type }) => type === "timeZoneName")?.value ?? "";
    const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
  };
  // A second pass with the corrected time: the first guess is off by hours.
  return at(moment - at(moment) * 60_000);
}
