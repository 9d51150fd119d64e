/** Live views: a page in this server's browser that a person sees and controls. */
import type { WebSocket } from "ws";
import { asCaller, currentCaller } from "../../../domain/access/caller.ts";
import { MOST_MESSAGE_BYTES } from "../../../domain/live-view/messages.ts";
import type { LiveView, ViewerPort } from "../../../orchestrator/live-views/live-view.ts";
import { type LiveViewInput, pageToOpen } from "../../../orchestrator/live-views/page-to-open.ts";
import { type SaveInput, saveLiveView } from "../../../orchestrator/live-views/save.ts";
import { viewOf } from "../../../orchestrator/runs/read.ts";
import { refuseLesserRole } from "../../access/declared-roles.ts";
import { RECHECK_MS } from "../../access/keys.ts";
import { type EndReason, untilRevoked } from "../../auth.ts";
import { type ApiDeps, limitsOf } from "../../deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "../../instance.ts";
import { ApiProblem } from "../../problems.ts";
import { IdParam, nullable, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { isSameOrigin } from "../../security.ts";
import { Type } from "../../type.ts";
import { isUpgrade, keepAlive, upgrade } from "../../upgrades.ts";
import { Run } from "../runs/run-schemas.ts";
import { Session } from "../system/credentials.ts";
import { Action } from "./page-option-schemas.ts";

const actions = Type.Array(Action, { description: "what was done so far, as browser actions; only with record" });
const notes = Type.Array(Type.String(), { description: "what could not be recorded, such as passwords" });

const View = strict({
  id: Uuid,
  run_id: nullable(Uuid),
  origin: Type.String({ description: "the origin whose session is stored" }),
  url: Type.String({ description: "the page that is shown" }),
  opened_by: nullable(Type.String()),
  opened_at: Time,
  ends_at: Time,
  idle_ends_at: { ...Time, description: "it closes then, if nobody uses it" },
  viewers: Type.Integer({ minimum: 0 }),
  controller: nullable(Type.String({ description: "the name of who controls it" })),
  mobile: Type.Boolean({ description: "the page is that of a phone, and takes touches" }),
  records: Type.Boolean(),
  name: nullable(Type.String({ description: "name of the session that is stored" })),
  check_url: nullable(Type.String()),
  actions,
  notes,
});

const session = {
  name: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200, description: "name of the session" }))),
  check_url: Type.Optional(nullable(Type.String({ maxLength: 8192, description: "a page that requires the sign-in" }))),
};

const Body = strict({
  run_id: Type.Optional({ ...IdParam, description: "a run of one page that waits for a person" }),
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 8192, description: "instead: a page to sign in at" })),
  mobile: Type.Optional(Type.Boolean({ description: "with url: emulate a phone" })),
  proxy: Type.Optional(nullable(Type.String({ maxLength: 2000, description: "with url: a proxy's URL, or pool" }))),
  session_id: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: 200, description: "with url: begin with this session" })),
  ),
  record: Type.Optional(Type.Boolean({ description: "record what is done as browser actions; never passwords" })),
  ...session,
});

const SaveBody = strict(session, { description: "absent: as named when the live view was opened" });

const Params = strict({ view_id: IdParam });
const unknown = problemAnswer("this server has no such live view; it may have ended");
const unavailable = problemAnswer(
  "the run does not wait for a person, or live_view_unavailable: too many are open, or the browser cannot open the page",
);
const tags = ["sessions"];

export function liveViewRoutes(api: ApiInstance, deps: ApiDeps): void {
  const { liveViews } = deps;
  api.upgradePaths.push({ path: /^\/live-views\/[\w-]+\/socket$/ });

  api.post(
    "/live-views",
    {
      config: { role: "operator" },
      schema: {
        summary: "Open a page to control by hand: of a run that waits for a person, or to sign in at",
        operationId: "openLiveView",
        tags,
        body: Body,
        response: { 200: View, 201: View, 404: problemAnswer("there is no such run"), 409: unavailable },
      },
    },
    async (request, reply) => {
      if (request.body.run_id === undefined) refuseLesserRole(request, "admin", SIGN_IN);
      const before = new Set(liveViews.list);
      const view = await liveViews.open(await pageToOpen(deps, request.body as LiveViewInput));
      return reply
        .code(before.has(view) ? 200 : 201)
        .header("location", `/live-views/${view.id}`)
        .send(view.record);
    },
  );

  api.get(
    "/live-views",
    {
      config: { role: "operator" },
      schema: {
        summary: "Live views that are open on this server",
        operationId: "listLiveViews",
        tags,
        response: { 200: Type.Array(View) },
      },
    },
    async (request) => liveViews.list.filter((view) => maySee(request, view)).map(({ record }) => record),
  );

  api.get(
    "/live-views/:view_id",
    {
      config: { role: "operator" },
      schema: {
        summary: "One live view",
        operationId: "getLiveView",
        tags,
        params: Params,
        response: { 200: View, 404: unknown },
      },
    },
    async (request) => found(deps, request).record,
  );

  api.post(
    "/live-views/:view_id/save",
    {
      config: { role: "operator" },
      schema: {
        summary: "Store cookies and storage as a session, continue the run with it, and close the live view",
        operationId: "saveLiveView",
        tags,
        params: Params,
        body: SaveBody,
        response: {
          201: strict({ session: Session, run: nullable(Run), actions, notes }),
          404: unknown,
          409: problemAnswer(
            "the run no longer waits for a person: the session is stored; or it is being saved already",
          ),
        },
      },
    },
    async (request, reply) => {
      const view = found(deps, request);
      const { run, ...saved } = await saveLiveView(deps, view, request.body as SaveInput);
      return reply.code(201).send({ ...saved, run: run === null ? null : await viewOf(deps, run) });
    },
  );

  api.delete(
    "/live-views/:view_id",
    {
      config: { role: "operator" },
      schema: {
        summary: "Close a live view; nothing is stored",
        operationId: "closeLiveView",
        tags,
        params: Params,
        response: { 204: Type.Null(), 404: unknown },
      },
    },
    async (request, reply) => {
      const view = found(deps, request);
      liveViews.audit("live_view.closed", view);
      await view.close("closed");
      return reply.code(204).send(null);
    },
  );

  api.get(
    "/live-views/:view_id/socket",
    {
      config: { role: "operator" },
      schema: {
        // A WebSocket is no operation of OpenAPI: docs/live-view.md describes it.
        hide: true,
        params: Params,
      },
    },
    async (request, reply) => connect(deps, request, reply, found(deps, request)),
  );
}

/** Sessions belong to admins. An operator clears what a run waits for; the page of an address may be signed in with any session. */
const SIGN_IN = "a live view without run_id";

const maySee = ({ principal }: ApiRequest, { record }: LiveView) =>
  record.run_id !== null || principal === null || principal.role === "admin";

function found({ liveViews }: ApiDeps, request: ApiRequest & { params: { view_id: string } }): LiveView {
  const view = liveViews.get(request.params.view_id);
  if (!maySee(request, view)) refuseLesserRole(request, "admin", SIGN_IN);
  return view;
}

function connect(deps: ApiDeps, request: ApiRequest, reply: ApiReply, view: LiveView): never {
  if (!isUpgrade(request))
    throw new ApiProblem("request_malformed", "this is the address of a WebSocket: send an upgrade request");
  // Browsers let a page of any web site open one, and attach the cookie.
  if (request.headers.origin !== undefined && !isSameOrigin(request))
    throw new ApiProblem("forbidden_origin", "a page of another web site may not connect here");
  // The context of the request ends with its response.
  const caller = currentCaller();
  const name = request.principal?.name ?? "";
  const open = (ws: WebSocket) => {
    const ended = request.server.openStreams.open();
    ws.once("close", () => ended.abort());
    if (ended.signal.aborted) return ws.close(1001);
    ended.signal.addEventListener("abort", () => ws.close(1001), { once: true });
    const stop = untilRevoked(request, deps, RECHECK_MS, (reason) => {
      ws.close(closeCodeOf(reason));
      ended.abort();
    });
    ended.signal.addEventListener("abort", stop, { once: true });
    keepAlive(ws, deps.clock, limitsOf(deps));
    const viewer = view.attach(portOf(ws), name, () => deps.liveViews.audit("live_view.controlled", view, { caller }));
    // At once, not only when the other side has closed it: a revoked key controls the page no longer.
    ended.signal.addEventListener("abort", () => viewer.detach(), { once: true });
    ws.on("message", (data, isBinary) => {
      if (!isBinary) asCaller(caller, () => viewer.receive(String(data as Buffer)));
    });
    return undefined;
  };
  upgrade(request, reply, open, MOST_MESSAGE_BYTES);
  return reply as never;
}

/** A code of our own: the dashboard says why, and does not connect again. */
const REVOKED = 4401;
const GOING_AWAY = 1001;

/** People whom a proxy signs in connect again: it tells with each connection who they are. Others sign in first. */
export const closeCodeOf = (reason: EndReason) => (reason === "revoked" ? REVOKED : GOING_AWAY);

/** Before the picture: its number, and the size of the page's viewport. */
const HEADER_BYTES = 8;

function portOf(ws: WebSocket): ViewerPort {
  return {
    frame: (seq, { jpeg, width, height }) => {
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt32BE(seq >>> 0, 0);
      header.writeUInt16BE(Math.min(0xffff, Math.round(width)), 4);
      header.writeUInt16BE(Math.min(0xffff, Math.round(height)), 6);
      ws.send(Buffer.concat([header, jpeg]));
    },
    send: (message) => ws.send(JSON.stringify(message)),
    close: () => ws.close(1000),
    get waitingBytes() {
      return ws.bufferedAmount;
    },
  };
}
