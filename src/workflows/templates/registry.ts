/** The templates that are built in, by name: definitions as people write them. A new one is a file beside this one and a line below. */
import type { JsonValue } from "../../domain/queue-item.ts";

export const BUILT_IN_TEMPLATES: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([]);
