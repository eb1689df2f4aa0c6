export function QueryPage() {
  return <h1>Query</h1>
}
