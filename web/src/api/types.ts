/** Inputs and responses of the API by operation name; generated from the OpenAPI description. */
import type { Operations as ByRoute, ROUTES } from "../../../src/api-client/operations.ts";

export type * from "../../../src/api-client/operations.ts";

export type Operations = { [Name in keyof typeof ROUTES]: ByRoute[(typeof ROUTES)[Name]] };
