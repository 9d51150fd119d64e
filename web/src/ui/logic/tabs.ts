/** The edges at which a horizontally scrolling list overflows: "", "start", "end" or "start end". */
export function moreBeyond({
  scrollLeft,
  scrollWidth,
  clientWidth,
}: {
  scrollLeft: number;
  scrollWidth: number;
  clientWidth: number;
}): string {
  // On scaled screens the end is only reached to within a fraction of a pixel.
  const start = scrollLeft > 1 ? ["start"] : [];
  const end = scrollLeft + clientWidth < scrollWidth - 1 ? ["end"] : [];
  return [...start, ...end].join(" ");
}
