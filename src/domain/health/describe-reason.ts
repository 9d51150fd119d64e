import type { DegradedReason, HealthMetric } from "./compare.ts";

const percent = (share: number) => `${Math.round(share * 1000) / 10} %`;
const plain = (value: number) => String(Math.round(value * 100) / 100);

const METRIC_WORDS: Readonly<
  Record<HealthMetric, (reason: DegradedReason) => [what: string, show: (value: number) => string]>
> = {
  records: () => ["records", plain],
  records_per_page: () => ["records per page", plain],
  missing: () => ["not on pages that had it:", percent],
  coverage: () => ["filled in", percent],
  class: (reason) => [`values of type ${reason.class}:`, percent],
  distinct: () => ["distinct values:", percent],
  range: () => ["median value", plain],
  length: () => ["median length", plain],
  digits: () => ["digits:", percent],
};

/** "price: filled in 41 % (before: 98 %)". */
export function describeReason(reason: DegradedReason): string {
  const [what, show] = METRIC_WORDS[reason.metric](reason);
  return `${reason.field === null ? "" : `${reason.field}: `}${what} ${show(reason.now)} (before: ${show(reason.before)})`;
}
