import { KNOWN_NAMES } from "../extract/known/registry.ts";

/** Fields that can be read from any page by name alone. */
export const KNOWN_FIELD_NAMES: readonly string[] = KNOWN_NAMES;
