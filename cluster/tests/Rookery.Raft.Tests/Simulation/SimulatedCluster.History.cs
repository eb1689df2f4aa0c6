using Rookery.Histories;

namespace Rookery.Raft.Tests.Simulation;

/// <summary>The answers to clients, checked in the end.</summary>
internal sealed partial class SimulatedCluster
{
    /// <summary>Checks the history of the answers to clients and of the final state.</summary>
    private void CheckHistory()
    {
        var leader = _nodes.Find(node => node.Core?.Role == Role.Leader)!;
        _clients.ForEach(client => client.Stop());
        var history = _clients.SelectMany(client => client.History).ToList();
        for (int document = 0; document < SimulatedState.Documents; document++)
        {
            foreach (var kind in new[] { OperationKind.Get, OperationKind.Transaction })
            {
                var last = new ClientCommand(Clients, Sequence: 0, kind, [document], Value: 0, Expected: 0);
                history.Add(
                    SimulatedClient.OperationOf(last, leader.Peek(last)) with
                    {
                        Client = Clients,
                        Invoked = Now,
                        Completed = Now,
                    }
                );
            }
        }

        Operations = history.Count;
        string? violation = EtagOrder.FindViolation(history) ?? ListAppends.FindViolation(history);
        Assert.True(violation is null, $"the clients' answers fit no order of the operations: {violation}");
        if (_searchesHistory)
        {
            SearchDocuments(history);
        }
    }

    private void SearchDocuments(List<Operation> history)
    {
        foreach (
            var document in history
                .Where(operation => operation.Kind != OperationKind.Transaction)
                .GroupBy(operation => operation.Key, StringComparer.Ordinal)
        )
        {
            var verdict = Linearizability.Check(Linearizability.BeginningOf(document));
            Assert.True(verdict != Verdict.Violated, $"no order explains what was read from {document.Key}");
            Mark($"search: {verdict}");
        }
    }
}
