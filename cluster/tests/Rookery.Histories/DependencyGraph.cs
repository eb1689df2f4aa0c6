namespace Rookery.Histories;

/// <summary>The order of transactions: by real time, and by the versions of lists that they read and wrote.</summary>
internal sealed class DependencyGraph
{
    private readonly List<Operation> _transactions;

    // For each node, the nodes that come after it. The first nodes are the transactions, the others are auxiliary.
    private readonly List<List<int>> _after = [];

    public DependencyGraph(List<Operation> transactions)
    {
        _transactions = transactions;
        transactions.ForEach(_ => _after.Add([]));
        AddRealTime();
    }

    public void AddEdge(int from, int to) => _after[from].Add(to);

    /// <summary>
    /// Adds edges from all of <paramref name="from"/> to all of <paramref name="to"/>. A transaction in
    /// <paramref name="both"/>, at most one, comes before the other ones of <paramref name="to"/>.
    /// </summary>
    public void AddEdges(List<int> from, List<int> to, List<int> both)
    {
        int between = AddNode();
        from.Except(both).ToList().ForEach(earlier => AddEdge(earlier, between));
        foreach (int later in to)
        {
            AddEdge(between, later);
            both.Where(earlier => earlier != later).ToList().ForEach(earlier => AddEdge(earlier, later));
        }
    }

    /// <summary>Sorts topologically (Kahn 1962). The remaining transactions are on a cycle or after one.</summary>
    public string? FindCycle()
    {
        int[] predecessorCounts = new int[_after.Count];
        foreach (int node in _after.SelectMany(nodes => nodes))
        {
            predecessorCounts[node]++;
        }

        Queue<int> free = new(Enumerable.Range(0, _after.Count).Where(node => predecessorCounts[node] == 0));
        int ordered = 0;
        for (; free.TryDequeue(out int node); ordered++)
        {
            foreach (int next in _after[node])
            {
                if (--predecessorCounts[next] == 0)
                {
                    free.Enqueue(next);
                }
            }
        }

        return ordered == _after.Count
            ? null
            : $"each of these comes before the next, and the last before the first: "
                + $"{string.Join("; ", CycleAmong(predecessorCounts))}";
    }

    /// <summary>
    /// Adds real-time order through a chain of auxiliary nodes, one for each time: an ended transaction comes before
    /// the next node, and each node before the transactions that began later.
    /// </summary>
    private void AddRealTime()
    {
        // The order at one time: first what begins (0), then what ends (1), so that both count as overlapping.
        List<(long At, int Order, int Transaction)> events = [];
        for (int number = 0; number < _transactions.Count; number++)
        {
            events.Add((_transactions[number].Invoked, 0, number));
            if (_transactions[number].Outcome == Outcome.Done)
            {
                events.Add((_transactions[number].Completed, 1, number));
            }
        }

        events.Sort();
        int time = AddNode();
        foreach (var (_, order, transaction) in events)
        {
            if (order == 0)
            {
                AddEdge(time, transaction);
                continue;
            }

            int later = AddNode();
            AddEdge(transaction, later);
            AddEdge(time, later);
            time = later;
        }
    }

    private int AddNode()
    {
        _after.Add([]);
        return _after.Count - 1;
    }

    /// <summary>
    /// Returns a cycle: each remaining transaction has a remaining predecessor, so going back leads around a cycle.
    /// </summary>
    private IEnumerable<Operation> CycleAmong(int[] predecessorCounts)
    {
        Dictionary<int, int> predecessors = [];
        for (int node = 0; node < _after.Count; node++)
        {
            foreach (int next in predecessorCounts[node] > 0 ? _after[node] : [])
            {
                predecessors[next] = node;
            }
        }

        HashSet<int> seen = [];
        int at = predecessors.First(edge => predecessorCounts[edge.Key] > 0).Key;
        while (seen.Add(at))
        {
            at = predecessors[at];
        }

        List<int> cycle = [at];
        for (int node = predecessors[at]; node != at; node = predecessors[node])
        {
            cycle.Add(node);
        }

        cycle.Reverse();
        return cycle.Where(node => node < _transactions.Count).Select(node => _transactions[node]);
    }
}
