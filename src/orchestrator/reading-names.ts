import { KNOWN_NAMES } from "../extract/known/registry.ts";

/** What can be read from any page by its name alone. */
export const KNOWN_FIELD_NAMES: readonly string[] = KNOWN_NAMES;
