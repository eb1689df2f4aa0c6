export function DocumentPage() {
  return <h1>Document</h1>
}
