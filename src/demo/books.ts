/** The demo shop's books, generated from a seed: identical on every start. */
import { integerBelow, type Random, seededRandom } from "../base/random.ts";

export interface Book {
  /** From 1. */
  id: number;
  slug: string;
  title: string;
  author: string;
  category: Category;
  /** In cents. */
  cents: number;
  /** 7 is 3.5 of 5. */
  halfStars: number;
  stock: number;
  pages: number;
  /** `2024-03-17` */
  published: string;
  blurb: readonly string[];
}

export interface Category {
  slug: string;
  name: string;
  about: string;
  /** Degrees on the colour circle, for covers and accents. */
  hue: number;
}

interface Shelf extends Category {
  things: readonly string[];
  places: readonly string[];
  looks: readonly string[];
}

const SHELVES: readonly Shelf[] = [
  {
    slug: "sea-stories",
    name: "Sea Stories",
    about: "Salt on the page: harbours, tides and long ways home.",
    hue: 205,
    things: ["Lighthouse", "Harbour", "Anchor", "Tide", "Compass", "Net", "Ferry", "Reef"],
    places: ["the Outer Bank", "Low Water", "the Last Pier", "Cold Bay"],
    looks: ["Drowned", "Patient", "Silver", "Distant", "Whispering", "Northern"],
  },
  {
    slug: "night-sky",
    name: "Night Sky",
    about: "For the hour when the kettle is the only other light.",
    hue: 258,
    things: ["Comet", "Observatory", "Lantern", "Moon", "Orbit", "Eclipse", "Telescope", "Meteor"],
    places: ["the Dark Hill", "Midnight Station", "the Far Side", "Winter Field"],
    looks: ["Quiet", "Second", "Falling", "Borrowed", "Faint", "Wandering"],
  },
  {
    slug: "gardens",
    name: "Gardens",
    about: "Things that grow slowly, and people who let them.",
    hue: 128,
    things: ["Orchard", "Hedge", "Seed", "Beehive", "Rake", "Greenhouse", "Fern", "Pond"],
    places: ["the South Wall", "Mill Lane", "the Walled Acre", "Late April"],
    looks: ["Overgrown", "Small", "Golden", "Stubborn", "Mossy", "Early"],
  },
  {
    slug: "machines",
    name: "Machines",
    about: "Cogs, valves and the odd thing that should not have worked.",
    hue: 18,
    things: ["Clock", "Engine", "Loom", "Lever", "Press", "Turbine", "Relay", "Gearbox"],
    places: ["Workshop Nine", "the Engine Room", "the Long Bench", "Platform Three"],
    looks: ["Perpetual", "Brass", "Humming", "Honest", "Impossible", "Careful"],
  },
  {
    slug: "kitchens",
    name: "Kitchens",
    about: "Read with one hand, stir with the other.",
    hue: 42,
    things: ["Oven", "Ladle", "Pantry", "Loaf", "Copper Pot", "Pepper Mill", "Table", "Spoon"],
    places: ["the Back Stove", "Sunday Morning", "the Corner Table", "the Cold Larder"],
    looks: ["Hungry", "Generous", "Smoky", "Simple", "Warm", "Salted"],
  },
];

const AUTHORS = [
  "Grey Heron",
  "Little Owl",
  "Red Squirrel",
  "Barn Swallow",
  "River Otter",
  "Mountain Hare",
  "Common Toad",
  "Stag Beetle",
  "Fallow Deer",
  "Garden Spider",
] as const;

const BOOKS_PER_SHELF = 12;
const SEED = 20_240_317;

export const CATEGORIES: readonly Category[] = SHELVES;
export const BOOKS: readonly Book[] = makeBooks();

export function booksOf({ slug }: Category): readonly Book[] {
  return BOOKS.filter((book) => book.category.slug === slug);
}

/** The latest books, newest first. */
export const ARRIVALS: readonly Book[] = BOOKS.toSorted(
  (a, b) => b.published.localeCompare(a.published) || a.id - b.id,
).slice(0, 8);

export const pathOfBook = ({ id, slug }: Book) => `/book/${id}/${slug}`;
export const pathOfCover = ({ id }: Book) => `/covers/${id}.png`;
export const priceText = ({ cents }: Book) => `€${(cents / 100).toFixed(2)}`;

function makeBooks(): Book[] {
  const random = seededRandom(SEED);
  const titles = new Set<string>();
  return SHELVES.flatMap((shelf, shelfIndex) =>
    Array.from({ length: BOOKS_PER_SHELF }, (_, nth) => {
      let title = titleFor(random, shelf);
      while (titles.has(title)) title = titleFor(random, shelf);
      titles.add(title);
      return bookOf(random, shelf, title, shelfIndex * BOOKS_PER_SHELF + nth + 1);
    }),
  );
}

function bookOf(random: Random, shelf: Shelf, title: string, id: number): Book {
  const month = 1 + integerBelow(random, 12);
  const day = 1 + integerBelow(random, 28);
  return {
    id,
    slug: title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, ""),
    title,
    author: pick(random, AUTHORS),
    category: shelf,
    cents: 690 + 5 * integerBelow(random, 480),
    halfStars: 4 + integerBelow(random, 7),
    // Some books are out of stock.
    stock: Math.max(0, integerBelow(random, 24) - 3),
    pages: 96 + 8 * integerBelow(random, 48),
    published: `${2018 + integerBelow(random, 7)}-${pad2(month)}-${pad2(day)}`,
    blurb: blurbFor(random, shelf),
  };
}

function titleFor(random: Random, { things, places, looks }: Shelf): string {
  const [thing, other] = [pick(random, things), pick(random, things)];
  const shapes = [
    `The ${pick(random, looks)} ${thing}`,
    `${thing} and ${thing === other ? "Shadow" : other}`,
    `A Field Guide to the ${pick(random, looks)} ${thing}`,
    `Letters from ${pick(random, places)}`,
    `How to Mend a ${thing}`,
    `${pick(random, ["Three", "Seven", "Eleven", "Forty"])} Evenings with a ${thing}`,
    `The ${thing} at ${pick(random, places)}`,
  ];
  return pick(random, shapes);
}

function blurbFor(random: Random, { things, places, looks }: Shelf): string[] {
  const thing = () => pick(random, things).toLowerCase();
  const look = () => pick(random, looks).toLowerCase();
  return [
    `It begins with a ${look()} ${thing()} that nobody at ${pick(random, places)} remembers putting there. By the second chapter it has been taken apart twice, and the parts no longer agree on how many of them there are.`,
    pick(random, [
      `What follows is a patient story about keeping a ${thing()} in good order, told by someone who plainly never managed to.`,
      `The middle third is set on a single afternoon, and the weather is described better than most of the characters.`,
      `There are diagrams. They help less than one would think, and are worth the price alone.`,
    ]),
    pick(random, [
      `Readers who like their endings tidy are warned: the ${thing()} is never found.`,
      `The last page can be read first, and some say it should be.`,
      `A ${look()} little book, best lent to somebody and not asked for again.`,
    ]),
  ];
}

function pad2(value: number): string {
  return String(value).padStart(2, "0");
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[integerBelow(random, list.length)] as T;
}
