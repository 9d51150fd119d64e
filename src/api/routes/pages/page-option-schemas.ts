/** Page and browser options, shared by jobs, crawls and single pages. */
import { ACTION_TYPES, DOCUMENT_FORMATS, SCROLL_TO_END } from "../../../domain/page/page-options.ts";
import { nullable, oneOf, strict } from "../../schemas.ts";
import { Type } from "../../type.ts";

const Selector = Type.String({ minLength: 1, maxLength: 2000, description: "a CSS selector" });
const Selectors = (description: string) => Type.Array(Selector, { maxItems: 100, description });

const documentParts = {
  formats: Type.Array(oneOf(DOCUMENT_FORMATS), {
    maxItems: DOCUMENT_FORMATS.length,
    description: "what the document holds; default: markdown. A screenshot is taken in a browser",
  }),
  only_main_content: Type.Boolean({
    description: "html and markdown without navigation and advertisements; default: true",
  }),
  include_tags: Selectors("nothing but what these match"),
  exclude_tags: Selectors("nothing of what these match"),
};

const ABOUT_DOCUMENT =
  "the page as a whole, as `document` in its first record, beside the fields: in the forms that are asked for, with the page's metadata; docs/documents.md describes it";

export const DocumentBody = nullable(
  Type.Partial(strict(documentParts), { additionalProperties: false, description: ABOUT_DOCUMENT }),
);
export const DocumentShown = nullable(strict(documentParts, { description: ABOUT_DOCUMENT }));

const Milliseconds = (description: string) => Type.Integer({ minimum: 0, maximum: 600_000, description });

/** The parser of actions checks which keys belong to which type, with the path of every error. */
const Action = strict({
  type: oneOf(ACTION_TYPES),
  milliseconds: Type.Optional(Milliseconds("of wait: so long, …")),
  selector: Type.Optional({
    ...Selector,
    description:
      "of click: what is clicked; of wait: until this is there; of scroll and scroll_to_end: what is scrolled, unless the page",
  }),
  all: Type.Optional(Type.Boolean({ description: "of click: all that match, and not only the first" })),
  text: Type.Optional(
    Type.String({ minLength: 1, maxLength: 10_000, description: "of write: into the element that has the focus" }),
  ),
  secret: Type.Optional(
    Type.Boolean({ description: "of write: the text is stored encrypted and shown as ***, as a password should be" }),
  ),
  key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "of press, such as Enter or Control+A" }),
  ),
  direction: Type.Optional(oneOf(["up", "down"], { description: "of scroll" })),
  amount: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: "of scroll: pixels; default: the height of the window",
    }),
  ),
  max_steps: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: `of scroll_to_end: maximum number of steps; default: ${SCROLL_TO_END.steps}`,
    }),
  ),
  max_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3600,
      description: `of scroll_to_end: maximum seconds, within the time limit of the page; default: ${SCROLL_TO_END.seconds}`,
    }),
  ),
  full_page: Type.Optional(Type.Boolean({ description: "of screenshot: the whole page" })),
});

const browserParts = {
  wait_for: nullable(Type.String({ minLength: 1, maxLength: 1000, description: "a CSS selector" })),
  block_resources: Type.Boolean({ description: "leave out pictures, fonts and media" }),
  wait_ms: nullable(Milliseconds("when the page is there, before anything is done on it or read from it")),
  mobile: Type.Boolean({ description: "as a phone: its window, its touch screen and its user agent" }),
  actions: Type.Array(Action, {
    maxItems: 50,
    description: "what is done on the page before it is read, one after the other; docs/documents.md describes them",
  }),
};

const ABOUT_BROWSER = "of a page that a browser gets; wait_ms, mobile and actions make it be one";

export const BrowserBody = nullable(
  Type.Partial(strict(browserParts), { additionalProperties: false, description: ABOUT_BROWSER }),
);
export const BrowserShown = nullable(strict(browserParts, { description: ABOUT_BROWSER }));
