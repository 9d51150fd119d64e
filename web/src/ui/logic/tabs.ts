/** At which edges a list that scrolls sideways goes on: "", "start", "end" or "start end". */
export function moreBeyond({
  scrollLeft,
  scrollWidth,
  clientWidth,
}: {
  scrollLeft: number;
  scrollWidth: number;
  clientWidth: number;
}): string {
  // Where screens are scaled, the end is reached but for a part of a pixel.
  const start = scrollLeft > 1 ? ["start"] : [];
  const end = scrollLeft + clientWidth < scrollWidth - 1 ? ["end"] : [];
  return [...start, ...end].join(" ");
}
