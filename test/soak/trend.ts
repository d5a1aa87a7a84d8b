/** One reading of a process. */
export interface Reading {
  /** Seconds since the load began. */
  readonly second: number;
  readonly value: number;
}

/** By how much the value grows in a minute, by least squares; 0 for fewer than two readings. */
export function growthPerMinute(readings: readonly Reading[]): number {
  const count = readings.length;
  if (count < 2) return 0;
  const meanSecond = readings.reduce((sum, { second }) => sum + second, 0) / count;
  const meanValue = readings.reduce((sum, { value }) => sum + value, 0) / count;
  let together = 0;
  let squared = 0;
  for (const { second, value } of readings) {
    together += (second - meanSecond) * (value - meanValue);
    squared += (second - meanSecond) ** 2;
  }
  return squared === 0 ? 0 : (together / squared) * 60;
}

/** The readings of the second half of that time. */
export function secondHalf(readings: readonly Reading[], seconds: number): Reading[] {
  return readings.filter(({ second }) => second >= seconds / 2 && second <= seconds);
}
