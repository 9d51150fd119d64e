/** Sources of well-known fields; the first with a value wins. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject } from "../facts/json-ld.ts";
import { pageEntity } from "../facts/main-entity.ts";
import type { Entities, PageFacts } from "../facts/page-facts.ts";

export interface KnownField {
  name: string;
  /** For the documentation: what it is, and its sources in order. */
  meaning: string;
  order: string;
  /** The value is a list, possibly empty. */
  list?: true;
  read(facts: PageFacts): JsonValue;
}

export type Source = (facts: PageFacts) => string | null;

export function first(facts: PageFacts, ...sources: Source[]): string | null {
  for (const source of sources) {
    const found = source(facts);
    if (found !== null && found !== "") return found;
  }
  return null;
}

/** Paths in the main entity, then in the page entity. */
export function jsonLd(...paths: string[]): Source {
  return (facts) => fromEntities(facts, facts.entities, paths);
}

export function microdata(...paths: string[]): Source {
  return (facts) => fromEntities(facts, facts.microdata, paths);
}

function fromEntities(facts: PageFacts, { graph, main }: Entities, paths: readonly string[]): string | null {
  const page = pageEntity(graph);
  for (const entity of main === page ? [main] : [main, page]) {
    if (entity === null) continue;
    for (const path of paths) {
      const list = graph.valuesAt(entity, path).flatMap((value) => textOf(facts, value) ?? []);
      if (list.length > 0) return list.join(", ");
    }
  }
  return null;
}

/** The text of a value; for an entity its name, never its id. */
export function textOf(facts: PageFacts, value: JsonValue | undefined): string | null {
  if (!isObject(value)) return facts.clean(value);
  const [name] = Array.isArray(value["name"]) ? value["name"] : [value["name"]];
  return facts.clean(value["@value"]) ?? (isObject(name) ? facts.clean(name["@value"]) : facts.clean(name));
}

export function meta(...names: string[]): Source {
  return (facts) => facts.clean(facts.meta(...names));
}
