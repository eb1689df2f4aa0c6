export function IndexesPage() {
  return <h1>Indexes</h1>
}
