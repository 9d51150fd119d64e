/** Validation of numbers typed into fields. */

export interface NumberRule {
  least: number;
  most: number;
  /** Only whole numbers. */
  whole?: boolean;
  /** Whether it may be empty, which restores the configured value. Default: yes. */
  optional?: boolean;
}

/** As the API accepts them. */
export const SITE_LIMITS = {
  max_concurrency: { least: 1, most: 10_000, whole: true },
  requests_per_second: { least: 0.001, most: 100_000 },
  burst: { least: 1, most: 100_000, whole: true },
  min_delay_ms: { least: 0, most: 86_400_000, whole: true },
  max_memory_mb: { least: 1, most: 1_000_000, whole: true },
  shards: { least: 1, most: 64, whole: true },
} as const satisfies Record<string, NumberRule>;

export type SiteLimit = keyof typeof SITE_LIMITS;

export const CONCURRENCY_KEY_LIMIT: NumberRule = { least: 1, most: 1_000_000, whole: true };

export function readNumber(text: string, rule: NumberRule): { value: number | null } | { error: string } {
  const plain = text.trim().replaceAll(/[\s_]/g, "").replace(",", ".");
  if (plain === "") return rule.optional === false ? { error: "enter a number" } : { value: null };
  const value = Number(plain);
  if (!/^[-+]?(\d+\.?\d*|\.\d+)$/.test(plain) || !Number.isFinite(value)) return { error: "enter a number" };
  if (rule.whole === true && !Number.isInteger(value)) return { error: "enter a whole number" };
  if (value < rule.least) return { error: `at least ${rule.least}` };
  if (value > rule.most) return { error: `at most ${rule.most}` };
  return { value };
}

export function showNumber(value: number | null): string {
  return value === null ? "" : String(value);
}
