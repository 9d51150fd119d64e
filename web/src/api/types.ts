/** What the API takes and answers, by the names of its operations; made from its own description. */
import type { Operations as ByRoute, ROUTES } from "../../../src/api-client/operations.ts";

export type * from "../../../src/api-client/operations.ts";

export type Operations = { [Name in keyof typeof ROUTES]: ByRoute[(typeof ROUTES)[Name]] };
