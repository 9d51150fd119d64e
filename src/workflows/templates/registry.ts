/** The built-in templates, by name; each is version 1. A new one is a file beside this one and a line here. */
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { articleDataset } from "./article-dataset.ts";
import { imageDataset } from "./image-dataset.ts";
import { priceMonitor } from "./price-monitor.ts";

export const BUILT_IN_TEMPLATES: ReadonlyMap<string, JsonValue> = new Map([
  ["article-dataset", articleDataset],
  ["image-dataset", imageDataset],
  ["price-monitor", priceMonitor],
]);
