/** Text columns: the first to the left, numbers to the right. */
export function table(heads, rows) {
  const lines = [heads, ...rows].map((line) => line.map(String))
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const show = (line) => line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ')
  return [show(lines[0]), widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1).map(show)]
    .map((line) => line.trimEnd())
    .join('\n')
}
