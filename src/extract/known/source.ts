/** Where a well-known field is read: sources in their order, the first that answers counts. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isObject } from "../facts/json-ld.ts";
import { pageEntity } from "../facts/main-entity.ts";
import type { Entities, PageFacts } from "../facts/page-facts.ts";

export interface KnownField {
  name: string;
  /** For the documentation: what it is, and where it is looked for. */
  meaning: string;
  order: string;
  /** Its value is a list, and an empty one when there is nothing. */
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

/** Paths into what the page is about, and then into what the page says about itself. */
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

/** An entity stands for its name; never for its id, which no reader sees. */
export function textOf(facts: PageFacts, value: JsonValue | undefined): string | null {
  if (!isObject(value)) return facts.clean(value);
  const [name] = Array.isArray(value["name"]) ? value["name"] : [value["name"]];
  return facts.clean(value["@value"]) ?? (isObject(name) ? facts.clean(name["@value"]) : facts.clean(name));
}

export function meta(...names: string[]): Source {
  return (facts) => facts.clean(facts.meta(...names));
}
