import { KNOWN_NAMES } from "../extract/known/registry.ts";

/** Fields that the extractor finds on any page by name alone. */
export const KNOWN_FIELD_NAMES: readonly string[] = KNOWN_NAMES;
