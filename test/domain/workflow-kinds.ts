/** Kinds of steps made for the purpose, and hands for definitions of workflows that use them. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { WorkflowDefinition } from "../../src/domain/workflow/definition.ts";
import { type KindLookup, validateWorkflow } from "../../src/domain/workflow/validate.ts";

export const KINDS: Record<string, { params: JsonValue; output?: JsonValue }> = {
  wait: {
    params: {
      type: "object",
      properties: { seconds: { type: "number", minimum: 0 } },
      required: ["seconds"],
      additionalProperties: false,
    },
    output: { type: "object", properties: {} },
  },
  download: {
    params: {
      type: "object",
      properties: {
        urls: { type: "array", items: { type: "string", format: "uri" }, minItems: 1 },
        field: { type: "string", default: "url" },
        source: {
          anyOf: [
            {
              type: "object",
              properties: { page: { type: "integer" } },
              required: ["page"],
              additionalProperties: false,
            },
            {
              type: "object",
              properties: { file: { type: "string" } },
              required: ["file"],
              additionalProperties: false,
            },
          ],
        },
        mode: { enum: ["fast", "slow"] },
      },
      additionalProperties: false,
    },
    output: { type: "object", properties: { downloaded: { type: "integer" }, failed: { type: "integer" } } },
  },
  anything: { params: { type: "object" } },
  choose: {
    params: {
      type: "object",
      properties: { kind: {}, a: {}, b: {} },
      if: { properties: { kind: { const: "b" } }, required: ["kind"] },
      propertyNames: { pattern: "^[a-z]+$" },
      // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
      then: { required: ["b"] },
      else: { required: ["a"] },
    },
  },
  pick: {
    params: {
      type: "object",
      properties: { a: {}, b: {}, c: {}, d: {} },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
      not: { required: ["c", "d"] },
      additionalProperties: false,
    },
  },
};
export const kinds: KindLookup = {
  find: (kind) => (Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined),
  all: () => Object.keys(KINDS).map((kind) => ({ kind })),
};

export const step = (name: string, more: object = {}) => ({ name, task_type: "anything", ...more });
export const workflow = (...steps: object[]) => ({ name: "w", steps });
export const faults = (value: unknown) =>
  (validateWorkflow(value, kinds).errors ?? []).map(({ path, message }) => `${path}: ${message}`);
export const valid = (value: unknown): WorkflowDefinition => {
  const { ok, errors } = validateWorkflow(value, kinds);
  assert.deepEqual(errors, undefined);
  return ok as WorkflowDefinition;
};
