export function ClusterPage() {
  return <h1>Cluster</h1>
}
