export function TimelinePage() {
  return <h1>IO timeline</h1>
}
