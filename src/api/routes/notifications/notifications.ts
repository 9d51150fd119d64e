import { DELIVERY_STATES } from "../../../domain/notify/types.ts";
import {
  changeChannel,
  type ChannelInput,
  channelKinds,
  createChannel,
  deleteChannel,
  listChannels,
  showChannel,
  testChannel,
} from "../../../orchestrator/notifications/channels.ts";
import { listDeliveries } from "../../../orchestrator/notifications/deliveries.ts";
import type { ApiDeps } from "../../deps.ts";
import { IdempotencyHeaders, idempotencyMarkOf } from "../../idempotency.ts";
import type { ApiInstance } from "../../instance.ts";
import { cursorFilter, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { oneOf, problemAnswer, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { Channel, ChannelBody, ChannelChange, Delivery, Kind, TestResult } from "./notification-schemas.ts";

const ChannelParam = Type.String({ minLength: 1, maxLength: 200, description: "id or name" });
const Params = strict({ channel_id: ChannelParam });
const unknown = problemAnswer("there is no such channel");
const tags = ["notifications"];

/** Notification channels; their secrets are write-only. */
export function notificationRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/notifications/kinds",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Kinds of channels, with their settings",
        operationId: "listChannelKinds",
        tags,
        response: { 200: Type.Array(Kind) },
      },
    },
    async () => channelKinds(),
  );

  api.get(
    "/notifications/channels",
    {
      config: { role: "admin" },
      schema: {
        summary: "Notification channels by name, without their secrets",
        operationId: "listChannels",
        tags,
        response: { 200: Type.Array(Channel) },
      },
    },
    () => listChannels(deps),
  );

  api.post(
    "/notifications/channels",
    {
      config: { role: "admin" },
      schema: {
        summary: "Add a notification channel",
        operationId: "createChannel",
        tags,
        headers: IdempotencyHeaders,
        body: ChannelBody,
        response: { 201: Channel },
      },
    },
    async (request, reply) => {
      const input = request.body as ChannelInput & { name: string; kind: string };
      const channel = await createChannel(deps, input, idempotencyMarkOf(deps, request));
      return reply.code(201).header("location", `/notifications/channels/${channel.id}`).send(channel);
    },
  );

  api.get(
    "/notifications/channels/:channel_id",
    {
      config: { role: "admin" },
      schema: {
        summary: "One channel, without its secrets",
        operationId: "getChannel",
        tags,
        params: Params,
        response: { 200: Channel, 404: unknown },
      },
    },
    (request) => showChannel(deps, request.params.channel_id),
  );

  api.patch(
    "/notifications/channels/:channel_id",
    {
      config: { role: "admin" },
      schema: {
        summary: "Change a channel; secrets that are not sent stay",
        operationId: "updateChannel",
        tags,
        params: Params,
        body: ChannelChange,
        response: { 200: Channel, 404: unknown },
      },
    },
    (request) => changeChannel(deps, request.params.channel_id, request.body as ChannelInput),
  );

  api.delete(
    "/notifications/channels/:channel_id",
    {
      config: { role: "admin" },
      schema: {
        summary: "Delete a channel with its deliveries",
        operationId: "deleteChannel",
        tags,
        params: Params,
        response: { 204: Type.Null(), 404: unknown },
      },
    },
    async (request, reply) => {
      await deleteChannel(deps, request.params.channel_id);
      return reply.code(204).send(null);
    },
  );

  api.post(
    "/notifications/channels/:channel_id/test",
    {
      config: { role: "admin" },
      schema: {
        summary: "Send a test message, in quiet hours, too",
        operationId: "testChannel",
        tags,
        params: Params,
        response: { 200: { ...TestResult, description: "whether the receiver accepted it" }, 404: unknown },
      },
    },
    (request) => testChannel(deps, request.params.channel_id),
  );

  api.get(
    "/notifications/deliveries",
    {
      config: { role: "admin" },
      schema: {
        summary: "Notifications that were sent or wait, newest first",
        operationId: "listDeliveries",
        tags,
        querystring: pageQuery({
          channel: Type.Optional(ChannelParam),
          state: Type.Optional(oneOf(DELIVERY_STATES)),
        }),
        response: { 200: { ...Type.Array(Delivery), headers: LINK_HEADER }, 404: unknown },
      },
    },
    async (request, reply) => {
      const { limit, channel, state } = request.query;
      const rows = await listDeliveries(deps, {
        ...(channel === undefined ? {} : { channel }),
        ...(state === undefined ? {} : { state }),
        ...cursorFilter(request.query),
        limit: limit + 1,
      });
      return sendPage(request, reply, { rows, limit, positionOf: ({ id }) => id });
    },
  );
}
