/** A page that loads its list piece by piece makes many calls that are one: the pages of the same list. */
import { type GuessedPagination, nextAddress, type PageAsked, pageAsked } from "./guess-pagination.ts";
import type { RankedExchange } from "./ranked.ts";

interface Member {
  ranked: RankedExchange;
  asked: PageAsked;
  /** Where it is and where it goes on, without the scheme: proxies get that wrong. */
  address: string;
  next: string | null;
}

/** Calls that differ only in the page that they ask for, or that lead from one to the next, first page first. */
export function groupPages(all: readonly RankedExchange[]): RankedExchange[][] {
  const members = all.map(toMember);
  const groups = new Map<string, Member[]>();
  for (const member of members) {
    const group = groups.get(member.asked.what);
    if (group === undefined) groups.set(member.asked.what, [member]);
    else group.push(member);
  }
  const byAddress = new Map(members.map((member) => [member.address, member]));
  for (const member of members) {
    const target = member.next === null ? undefined : byAddress.get(member.next);
    const from = groups.get(member.asked.what);
    const to = target === undefined ? undefined : groups.get(target.asked.what);
    if (from === undefined || to === undefined || from === to) continue;
    from.push(...to);
    for (const { asked } of to) groups.set(asked.what, from);
  }
  return [...new Set(groups.values())].map((group) => inOrder(group).map(({ ranked }) => ranked));
}

function toMember(ranked: RankedExchange): Member {
  const { exchange, json, pagination } = ranked;
  const address = (url: URL) => `${url.host}${url.pathname}${url.search}`;
  const next = nextAddress(exchange, json, pagination);
  return {
    ranked,
    asked: pageAsked(exchange.request),
    address: address(new URL(exchange.request.url)),
    next: next === null ? null : address(next),
  };
}

/** First what no other leads to; then what names no page, the lowest number, and what was asked for first. */
function inOrder(group: readonly Member[]): Member[] {
  const led = new Set(group.flatMap(({ next, address }) => (next === null || next === address ? [] : next)));
  const rank = ({ at }: PageAsked) => (at === null ? -1 : typeof at === "number" ? at : Number.MAX_SAFE_INTEGER);
  return group.toSorted(
    (a, b) => Number(led.has(a.address)) - Number(led.has(b.address)) || rank(a.asked) - rank(b.asked),
  );
}

/** How a list goes on whose pages were seen: they know more together than the first one alone. */
export function paginationOf(pages: readonly RankedExchange[]): GuessedPagination | null {
  const guess = pages.find(({ pagination }) => pagination !== null)?.pagination ?? null;
  if (guess?.kind !== "page" && guess?.kind !== "offset") return guess;
  const seen = pages.map(({ exchange }) => ({ at: pageAsked(exchange.request).at, body: exchange.response.body }));
  const numbers = [...new Set(seen.flatMap(({ at }) => (typeof at === "number" ? at : [])))].toSorted((a, b) => a - b);
  const bare = seen.find(({ at }) => at === null);
  if (guess.kind === "page") {
    // Without a number comes the first page: if number 1 is another one, then counting begins at 0.
    const one = seen.find(({ at }) => at === 1);
    const fromZero = numbers[0] === 0 || (bare !== undefined && one !== undefined && bare.body !== one.body);
    return { ...guess, start: fromZero ? 0 : 1 };
  }
  const steps = (bare === undefined ? numbers : [0, ...numbers])
    .map((number, index, list) => number - (list[index - 1] ?? number))
    .filter((step) => step > 0);
  // The last page has fewer items than the others. Too small a step only brings items twice, too large a one loses some.
  const sizes = pages.map(({ items, pagination }) => Number(pagination?.["limit"] ?? items?.count ?? 0));
  return { ...guess, limit: Math.min(Math.max(...sizes), ...steps) };
}
