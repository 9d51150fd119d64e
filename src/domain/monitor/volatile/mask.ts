/** The lines of a page without the places that are known to change on their own. */
import type { PreparedText } from "../prepared-text.ts";
import type { VolatileLine, VolatileProfile, VolatileRegion, VolatileSlot } from "./profile.ts";
import { digest, sortedWords, templateName, TemplateLines } from "./templates.ts";
import { hasOtherValue, itemName } from "./values.ts";

/** A line of a page, or a place that is left out, with the range of original lines that it covers. */
export interface MaskedLine {
  /** A line with gaps is named after its steady words. */
  text: string;
  from: number;
  to: number;
  isMasked: boolean;
  /** Some of its words change on their own; the others count. */
  hasGaps?: boolean;
  /** The place that it belongs to, as shown. */
  place: string | null;
}

export const EDGE = "‹edge›";

/** `exposed`: lines that count, although they are in such a place. */
export function mask(text: PreparedText, profile: VolatileProfile, exposed?: ReadonlySet<number>): MaskedLine[] {
  const { lines } = text;
  const owners = new Map<number, { region: VolatileRegion; index: number }>();
  const order = lines.map((_, index) => index);
  const nameOf = ({ key }: VolatileRegion) => text.regions.nameOf(text.regions.find(key)!);
  const worded = new Map<number, string>();
  for (const [index, region] of (profile.regions ?? []).entries())
    if (!isIdle(region) && region.mode === "rotating")
      for (const line of linesIn(text, region)) if (!owners.has(line)) owners.set(line, { region, index });
  takeRepeated(text, profile, owners);
  const moved = new Set<number>();
  const templates = profile.lines.filter((line) => !isIdle(line));
  for (const region of profile.regions ?? []) {
    if (isIdle(region) || region.mode === "rotating") continue;
    if (region.mode === "words") for (const line of linesIn(text, region)) worded.set(line, nameOf(region));
    else shuffle(text, region, { owners, templates, order, moved });
  }
  const known = TemplateLines.of(lines);
  const slots = slotsIn(text, profile, (line) => owners.has(line) || moved.has(line));
  const masked: MaskedLine[] = [];
  for (let at = 0; at <= lines.length;) {
    const slot = slots.get(at);
    if (slot !== undefined) {
      masked.push({ text: `‹slot ${slot.index}›`, from: at, to: slot.to, isMasked: true, place: slot.name });
      slots.delete(at);
      at = slot.to;
      continue;
    }
    if (at === lines.length) break;
    const index = order[at]!;
    at += 1;
    const owner = exposed?.has(index) === true ? undefined : owners.get(index);
    if (owner !== undefined) {
      const name = `‹region ${owner.index}›`;
      const last = masked.at(-1);
      if (last?.text === name && last.to === index) last.to += 1;
      else masked.push({ text: name, from: index, to: index + 1, isMasked: true, place: nameOf(owner.region) });
      continue;
    }
    const line = lines[index]!;
    const template = known.templateOf(index, templates);
    const sorted = worded.has(index) ? sortedWords(line) : line;
    const place = template === null ? (worded.get(index) ?? null) : templateName(line, template);
    // With other steady words it has another template: that is a change.
    const shown = template === null ? sorted : `‹line ${digest(JSON.stringify(template.words))}›`;
    masked.push({ text: shown, from: index, to: index + 1, isMasked: false, hasGaps: template !== null, place });
  }
  return masked;
}

const isIdle = ({ pending, off }: { pending?: true; off?: true }) => pending === true || off === true;

/** The lines of a learned place; empty: the page has none, or several, of that name. */
export function linesIn({ regions }: PreparedText, { key, item, mode }: VolatileRegion): readonly number[] {
  const node = regions.find(key);
  if (node === null || (mode === "rotating" && regions.isWhole(node))) return [];
  return item === null ? regions.linesOf(node) : regions.members(node, item).flat();
}

/** What is linked from several rotating places is left out as well. */
function takeRepeated(
  { nodes = [], regions }: PreparedText,
  profile: VolatileProfile,
  owners: Map<number, { region: VolatileRegion; index: number }>,
): void {
  const all = new Map<number, { region: VolatileRegion; index: number }>();
  for (const [index, region] of (profile.regions ?? []).entries()) {
    const node = isIdle(region) || region.mode !== "rotating" ? null : regions.find(region.key);
    if (node !== null && !regions.isWhole(node)) all.set(node, { region, index });
  }
  if (all.size === 0) return;
  const rotating = new Set(all.keys());
  const [first] = all.values();
  for (const [line, places] of nodes.entries())
    if (!owners.has(line) && places.length > 1 && places.every((node) => regions.isWithin(node, rotating)))
      owners.set(line, first!);
}

/** Puts the members of a shuffled list into the order of their texts. */
function shuffle(
  { lines, regions }: PreparedText,
  { key, item }: VolatileRegion,
  {
    owners,
    templates,
    order,
    moved,
  }: { owners: ReadonlyMap<number, unknown>; templates: VolatileLine[]; order: number[]; moved: Set<number> },
): void {
  const node = regions.find(key);
  if (node === null || item === null) return;
  const members = regions.members(node, item);
  const all = members.flat();
  if (all.some((line) => owners.has(line) || moved.has(line))) return;
  // By what is steady in them, so that other words do not move them.
  const steady = (line: number) => {
    const template = TemplateLines.of(lines).templateOf(line, templates);
    return template === null ? lines[line]! : JSON.stringify(template.words);
  };
  const texts = new Map(members.map((member) => [member, member.map(steady).join("\n")]));
  const sorted = members.toSorted((a, b) => (texts.get(a)! < texts.get(b)! ? -1 : 1)).flat();
  for (const [index, position] of all.toSorted((a, b) => a - b).entries()) order[position] = sorted[index]!;
  for (const line of all) moved.add(line);
}

function slotsIn(
  { lines, regions }: PreparedText,
  profile: VolatileProfile,
  isTaken: (line: number) => boolean,
): Map<number, { index: number; to: number; name: string }> {
  const found = new Map<number, { index: number; to: number; name: string }>();
  if (profile.slots.length === 0) return found;
  const digests = lines.map(digest);
  for (const [index, slot] of profile.slots.entries()) {
    if (isIdle(slot)) continue;
    for (const { from, to } of rangesOf(slot, digests)) {
      const inside = Array.from({ length: to - from }, (_, line) => from + line);
      if (found.has(from) || inside.some(isTaken)) continue;
      const left = [...(slot.kinds ?? [])];
      const isKind = (line: number) => {
        const at = left.indexOf(digest(regions.kindOf(line)));
        if (at >= 0) left.splice(at, 1);
        return at >= 0;
      };
      if (slot.kinds !== undefined && !inside.every(isKind)) continue;
      found.set(from, { index, to, name: slotName(lines, from, to) });
    }
  }
  return found;
}

/** As shown: the lines before and after it. */
const slotName = (lines: readonly string[], from: number, to: number) =>
  `between “${(lines[from - 1] ?? "").slice(0, MAX_NEIGHBOUR)}” and “${(lines[to] ?? "").slice(0, MAX_NEIGHBOUR)}”`;

const MAX_NEIGHBOUR = 50;

/** The places without those that are named so in one of the texts. */
export function withoutNamed(
  profile: VolatileProfile,
  texts: readonly PreparedText[],
  isNamed: (name: string) => boolean,
): VolatileProfile {
  const digests = new Map(texts.map((text) => [text, profile.slots.length === 0 ? [] : text.lines.map(digest)]));
  return {
    ...profile,
    lines: profile.lines.filter(
      (entry) =>
        !texts.some(({ lines }) =>
          lines.some(
            (line, at) =>
              TemplateLines.of(lines).templateOf(at, [entry]) !== null && isNamed(templateName(line, entry)),
          ),
        ),
    ),
    slots: profile.slots.filter(
      (slot) =>
        !texts.some((text) =>
          rangesOf(slot, digests.get(text)!).some(({ from, to }) => isNamed(slotName(text.lines, from, to))),
        ),
    ),
    regions: (profile.regions ?? []).filter(
      ({ key }) =>
        !texts.some(({ regions }) => {
          const node = regions.find(key);
          return node !== null && isNamed(regions.nameOf(node));
        }),
    ),
  };
}

export function rangesOf(
  { before, after, most }: VolatileSlot,
  digests: readonly string[],
): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  const at = (index: number) => (index < 0 || index >= digests.length ? EDGE : digests[index]!);
  for (let from = 0; from <= digests.length; from += 1) {
    if (!before.every((line, index) => at(from - before.length + index) === line)) continue;
    for (let to = from; to <= Math.min(digests.length, from + most); to += 1)
      if (after.every((line, index) => at(to + index) === line)) {
        found.push({ from, to });
        break;
      }
    // Where several places look alike, none is known.
    if (found.length > 1) return [];
  }
  return found;
}

/** Lines of both texts that tell of the same thing with another price or amount: a rotating list hides them not. */
export function exposedLines(
  before: PreparedText,
  after: PreparedText,
  profile: VolatileProfile,
): [ReadonlySet<number>, ReadonlySet<number>] {
  const exposed: [Set<number>, Set<number>] = [new Set(), new Set()];
  for (const region of profile.regions ?? []) {
    if (isIdle(region) || region.mode !== "rotating") continue;
    const [old, recent] = [before, after].map((text) => new Map(unitsIn(text, region)));
    for (const [name, one] of old!) {
      const other = recent!.get(name);
      if (other === undefined || name.length < 3 || !hasOtherValue(one.text, other.text)) continue;
      for (const line of one.lines) exposed[0].add(line);
      for (const line of other.lines) exposed[1].add(line);
    }
  }
  return exposed;
}

function unitsIn(text: PreparedText, region: VolatileRegion): [string, { text: string; lines: readonly number[] }][] {
  const { regions } = text;
  const node = regions.find(region.key);
  if (node === null) return [];
  const item = region.item ?? regions.itemOf(node);
  const units = item === null ? linesIn(text, region).map((line) => [line]) : regions.members(node, item);
  return units.map((lines) => {
    const joined = lines.map((line) => text.lines[line]).join(" ");
    return [itemName(joined), { text: joined, lines }];
  });
}

/** The shuffled lists of which the two texts show the common lines in another order. */
export function shuffledLists(
  before: PreparedText,
  after: PreparedText,
  profile: VolatileProfile,
): { name: string; lines: [number[], number[]] }[] {
  return (profile.regions ?? []).flatMap((region) => {
    if (isIdle(region) || region.mode !== "shuffled") return [];
    const lines = [before, after].map((text) => linesIn(text, region).toSorted((a, b) => a - b));
    const texts = [before, after].map((text, at) => lines[at]!.map((line) => text.lines[line]!));
    const sets = texts.map((list) => new Set(list));
    const common = texts.map((list, at) => list.filter((line) => sets[1 - at]!.has(line)).join("\n"));
    if (common[0] === common[1]) return [];
    const name = after.regions.nameOf(after.regions.find(region.key)!);
    return [{ name, lines: lines as [number[], number[]] }];
  });
}

/** The shuffled lists of a text. */
export function shuffledIn(text: PreparedText, profile: VolatileProfile): { name: string; lines: readonly number[] }[] {
  return (profile.regions ?? []).flatMap((region) => {
    const node = isIdle(region) || region.mode !== "shuffled" ? null : text.regions.find(region.key);
    return node === null ? [] : [{ name: text.regions.nameOf(node), lines: linesIn(text, region) }];
  });
}
