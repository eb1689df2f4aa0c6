export function LogsPage() {
  return <h1>Logs</h1>
}
