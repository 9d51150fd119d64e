/** Page and browser options, shared by jobs, crawls and single pages. */
import { ACTION_TYPES, DOCUMENT_FORMATS, SCROLL_TO_END } from "../../../domain/page/page-options.ts";
import { nullable, oneOf, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Selector = Type.String({ minLength: 1, maxLength: 2000, description: "a CSS selector" });
const Selectors = (description: string) => Type.Array(Selector, { maxItems: 100, description });

const documentParts = {
  formats: Type.Array(oneOf(DOCUMENT_FORMATS), {
    maxItems: DOCUMENT_FORMATS.length,
    description: "contents of the document; default: markdown. A screenshot needs a browser",
  }),
  only_main_content: Type.Boolean({
    description: "html and markdown without navigation and advertisements; default: true",
  }),
  include_tags: Selectors("CSS selectors: keep only matching elements"),
  exclude_tags: Selectors("CSS selectors: remove matching elements"),
};

const ABOUT_DOCUMENT =
  "the full page content, stored as `document` in the first record, in the requested formats and with the page's metadata; see docs/documents.md";

export const DocumentBody = nullable(
  Type.Partial(strict(documentParts), { additionalProperties: false, description: ABOUT_DOCUMENT }),
);
export const DocumentShown = nullable(strict(documentParts, { description: ABOUT_DOCUMENT }));

const Milliseconds = (description: string) => Type.Integer({ minimum: 0, maximum: 600_000, description });

/** The parser of actions checks which keys belong to which type, with the path of every error. */
export const Action = strict({
  type: oneOf(ACTION_TYPES),
  milliseconds: Type.Optional(Milliseconds("wait: duration")),
  selector: Type.Optional({
    ...Selector,
    description:
      "click: element to click; wait: element to wait for; scroll and scroll_to_end: element to scroll (default: the page)",
  }),
  all: Type.Optional(Type.Boolean({ description: "click: all matching elements, not only the first" })),
  text: Type.Optional(
    Type.String({ minLength: 1, maxLength: 10_000, description: "write: text to type into the focused element" }),
  ),
  secret: Type.Optional(
    Type.Boolean({ description: "write: store the text encrypted and show it as ***, for passwords" }),
  ),
  key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "press: key, such as Enter or Control+A" }),
  ),
  direction: Type.Optional(oneOf(["up", "down"], { description: "scroll: direction" })),
  amount: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: "scroll: pixels; default: the height of the window",
    }),
  ),
  max_steps: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: `scroll_to_end: maximum number of steps; default: ${SCROLL_TO_END.steps}`,
    }),
  ),
  max_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3600,
      description: `scroll_to_end: maximum seconds, within the time limit of the page; default: ${SCROLL_TO_END.seconds}`,
    }),
  ),
  full_page: Type.Optional(Type.Boolean({ description: "screenshot: the whole page" })),
});

const browserParts = {
  wait_for: nullable(Type.String({ minLength: 1, maxLength: 1000, description: "a CSS selector" })),
  block_resources: Type.Boolean({ description: "do not load images, fonts and media" }),
  wait_ms: nullable(Milliseconds("wait this long after loading, before actions and extraction")),
  mobile: Type.Boolean({ description: "emulate a phone: window size, touch screen and user agent" }),
  actions: Type.Array(Action, {
    maxItems: 50,
    description: "actions on the page before it is read, in this order; see docs/documents.md",
  }),
};

const ABOUT_BROWSER =
  "options for pages fetched with a browser; wait_ms, mobile and actions make the run use a browser";

export const BrowserBody = nullable(
  Type.Partial(strict(browserParts), { additionalProperties: false, description: ABOUT_BROWSER }),
);
export const BrowserShown = nullable(strict(browserParts, { description: ABOUT_BROWSER }));
