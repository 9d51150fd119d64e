/** Where a well-known field is read: sources in their order, the first that answers counts. */
import type { JsonValue } from "../../domain/queue-item.ts";
import { type JsonObject, valueAt } from "../facts/json-ld.ts";
import { microdataValue } from "../facts/microdata.ts";
import { PageFacts } from "../facts/page-facts.ts";

export interface KnownField {
  name: string;
  /** For the documentation: what it is, and where it is looked for. */
  meaning: string;
  order: string;
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

/** Paths into what the page is about; an object stands for its name, its address or its value. */
export function jsonLd(...paths: string[]): Source {
  return (facts) => {
    const entity = facts.mainEntity;
    if (entity === null) return null;
    for (const path of paths) {
      const found = asText(valueAt(entity, path));
      if (found !== null) return found;
    }
    return null;
  };
}

export function asText(value: JsonValue | undefined): string | null {
  if (Array.isArray(value)) {
    const list = value.flatMap((item) => asText(item) ?? []);
    return list.length === 0 ? null : list.join(", ");
  }
  if (typeof value !== "object" || value === null) return PageFacts.clean(value);
  const object: JsonObject = value;
  for (const key of ["name", "url", "@value", "@id", "contentUrl"]) {
    const found = PageFacts.clean(object[key]);
    if (found !== null) return found;
  }
  return null;
}

export function microdata(...paths: string[]): Source {
  return (facts) => {
    for (const path of paths) {
      const found = PageFacts.clean(microdataValue(facts.microdata, path));
      if (found !== null) return found;
    }
    return null;
  };
}

export function meta(...names: string[]): Source {
  return (facts) => PageFacts.clean(facts.meta(...names));
}
