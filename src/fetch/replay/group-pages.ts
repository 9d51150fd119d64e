/** Groups the calls of a page that fetch pages of the same list. */
import { type GuessedPagination, nextAddress, type PageAsked, pageAsked } from "./guess-pagination.ts";
import type { RankedExchange } from "./ranked.ts";

interface Member {
  ranked: RankedExchange;
  asked: PageAsked;
  /** Its URL and that of the next page, without the scheme: servers behind proxies get it wrong. */
  address: string;
  next: string | null;
}

/** Groups calls that differ only in the requested page, or that link to each other; first page first. */
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

/** Calls that no other links to first; then those without a page, by page number, and in request order. */
function inOrder(group: readonly Member[]): Member[] {
  const linked = new Set(group.flatMap(({ next, address }) => (next === null || next === address ? [] : next)));
  const rank = ({ at }: PageAsked) => (at === null ? -1 : typeof at === "number" ? at : Number.MAX_SAFE_INTEGER);
  return group.toSorted(
    (a, b) => Number(linked.has(a.address)) - Number(linked.has(b.address)) || rank(a.asked) - rank(b.asked),
  );
}

/** Pagination of a list, from all recorded pages: they reveal more than the first one alone. */
export function paginationOf(pages: readonly RankedExchange[]): GuessedPagination | null {
  const guess = pages.find(({ pagination }) => pagination !== null)?.pagination ?? null;
  if (guess?.kind !== "page" && guess?.kind !== "offset") return guess;
  const seen = pages.map(({ exchange }) => ({ at: pageAsked(exchange.request).at, body: exchange.response.body }));
  const numbers = [...new Set(seen.flatMap(({ at }) => (typeof at === "number" ? at : [])))].toSorted((a, b) => a - b);
  const bare = seen.find(({ at }) => at === null);
  if (guess.kind === "page") {
    // A request without a number gets the first page: if page 1 differs from it, numbering starts at 0.
    const pageOne = seen.find(({ at }) => at === 1);
    const fromZero = numbers[0] === 0 || (bare !== undefined && pageOne !== undefined && bare.body !== pageOne.body);
    return { ...guess, start: fromZero ? 0 : 1 };
  }
  const steps = (bare === undefined ? numbers : [0, ...numbers])
    .map((number, index, list) => number - (list[index - 1] ?? number))
    .filter((step) => step > 0);
  // The last page has fewer items. Too small a step only repeats items, too large a one loses some.
  const sizes = pages.map(({ items, pagination }) => Number(pagination?.["limit"] ?? items?.count ?? 0));
  return { ...guess, limit: Math.min(Math.max(...sizes), ...steps) };
}
